use super::*;
use crate::number::Written;
use proptest::prelude::*;

fn inputs<'t>(list: &[(&'t str, &'t str, &str)]) -> Vec<Input<'t>> {
    let value = |text: &str| Written::parse(text.as_bytes()).map(|number| number.value);
    let input = |(n, (name, description, number)): (usize, &(&'t str, &'t str, &str))| Input {
        id: n as u32,
        name,
        variable: name,
        description,
        value: value(number),
        running: false,
    };
    list.iter().enumerate().map(input).collect()
}

fn result(text: &str, list: &[(&str, &str, &str)]) -> String {
    result_of(&result_named(text), text, list, None)
}

/// The words of a sentence that name its result, as the description of an output does.
fn result_named(text: &str) -> String {
    let before =
        [" as ", " by ", ": ", " is ", " are "].iter().filter_map(|sign| text.split_once(sign)).map(|(name, _)| name);
    let mut purpose =
        [" to get ", " to obtain ", " to find "].iter().filter_map(|sign| text.split_once(sign)).map(|(_, name)| name);
    let before = before.min_by_key(|name| name.len()).unwrap_or_default();
    format!("{before} {}", purpose.next_back().unwrap_or_default())
}

/// Shows what a step gives that writes `output`; `running` is the input that the step before wrote.
fn result_of(output: &str, text: &str, list: &[(&str, &str, &str)], running: Option<&str>) -> String {
    let mut inputs = inputs(list);
    for input in &mut inputs {
        input.running = Some(input.name) == running;
    }
    let value = |id: u32| inputs.get(id as usize).and_then(|input| input.value);
    let read = read(text, &inputs, &Output { name: output, description: "" });
    let plan = read.map(|read| read.expression).or_else(|| statement(text, &inputs));
    plan.and_then(|plan| plan.evaluate(value)).map_or_else(|| "nothing".into(), Number::shown)
}

#[test]
fn a_percentage_is_one_of_something() {
    let price = ("price", "Price", "200");
    for (text, input, expected) in [
        ("Increase price by rate_percent percent.", ("rate_percent", "", "15"), "230"),
        ("Increase price by rate percent.", ("rate", "Rate", "15"), "230"),
        ("Add rate percent of price to price.", ("rate", "Rate", "15"), "230"),
        ("Add the tax rate to the price.", ("tax_rate", "Tax rate in percent", "15"), "nothing"),
        ("Add the tax to the price.", ("tax", "Tax in dollars", "15"), "215"),
        ("Subtract the discount_percent from 100 percent.", ("discount_percent", "", "15"), "nothing"),
    ] {
        assert_eq!(result(text, &[price, input]), expected, "{text}");
    }
    assert_eq!(result("Reduce price by 25 percent.", &[price]), "150");
    assert_eq!(result("Add 10 percent to price.", &[price]), "220");
    assert_eq!(result("Subtract rate_percent from 100 percent.", &[("rate_percent", "", "15")]), "85");
}

#[test]
fn a_relation_is_no_command() {
    let inputs = [("kim", "Stickers Kim has", "96"), ("factor", "How many times as many as Leo", "3")];
    for text in [
        "Kim has factor times as many as Leo; find Leo's stickers.",
        "kim was made by adding factor to the start; find the start.",
        "Since kim equals factor times Leo's stickers, find Leo's stickers.",
        "Find x such that x times factor equals kim.",
        "Leo's stickers times factor equals kim. Solve for Leo.",
    ] {
        assert_eq!(result(text, &inputs), "nothing", "{text}");
    }
    assert_eq!(result("The total is kim times factor; find the total.", &inputs), "288");
}

#[test]
fn the_operation_of_a_reason_is_none_of_the_step() {
    let muffins = ("muffins", "Muffins sold", "96");
    for text in [
        "Divide the muffins by 3, because it sold 3 times as many muffins as pies.",
        "There are 3 times as many muffins, therefore divide muffins by 3.",
    ] {
        assert_eq!(result_of("pies", text, &[muffins], None), "32", "{text}");
    }
    let first = "It sold 3 times as many muffins as pies, so the pies are the muffins divided by 3.";
    assert_eq!(result_of("pies", first, &[muffins], None), "nothing");
    let two = [("difference", "Difference of their ages", "30"), ("k", "Times as old", "4")];
    assert_eq!(result("The father is k times as old, so divide the difference by k minus 1.", &two), "10");
}

#[test]
fn what_a_sentence_says_more_leaves_no_plan() {
    let inputs = [("apples", "Apples picked", "48"), ("pears", "Pears picked", "12")];
    for text in [
        "Add 3 days of pears to apples.",
        "Multiply apples by pears for each of the 3 people.",
        "Add pears per day for 3 days to apples.",
        "Add the apples without the pears.",
    ] {
        assert_eq!(result(text, &inputs), "nothing", "{text}");
    }
    assert_eq!(result("apples minus pears, divided by two", &inputs), "18");
    assert_eq!(result("Compute apples less pears.", &inputs), "36");
    assert_eq!(result("Twice the apples less 10.", &inputs[..1]), "86");
    let three = [("a", "a", "48"), ("b", "b", "12"), ("c", "c", "4")];
    assert_eq!(result("Multiply a by b and add the two.", &three), "nothing");
    assert_eq!(result("Add 10 years.", &[("hans_then", "Hans's age ten years ago", "40")]), "nothing");
    assert_eq!(result("Increase apples by 1/4.", &inputs[..1]), "nothing");
}

#[test]
fn what_is_left_over_is_a_remainder_and_a_unit_that_is_asked_for_counts() {
    let cookies = [("cookies", "Cookies baked", "48"), ("friends", "Friends", "5")];
    assert_eq!(result("Find how many cookies are left over when cookies are divided by friends.", &cookies), "nothing");
    assert_eq!(result("Compute \\text{cookies} \\times \\left(1 - friends\\right).", &cookies), "nothing");
    let start = [("start", "Starting amount", "100"), ("growth", "Growth a year", "0.1")];
    assert_eq!(result("Increase the starting amount by the growth rate.", &start), "nothing");
    let [hour, minute] = ["hour", "minute"].map(|word| unit(word).unwrap());
    assert!(wants_other_unit("Divide it to get the time in minutes.", &[hour]));
    assert!(!wants_other_unit("Divide it to get the time in minutes.", &[hour, minute]));
    assert!(!wants_other_unit("Divide it to get the number.", &[hour]));
}

#[test]
fn one_of_several_is_stated_only_where_the_text_says_so() {
    let states =
        |text: &str| is_named_to_state(text, "weeks") && !speaks_of_other(text, "weeks", &["weekly_rest", "weeks"]);
    assert!(
        states("State the weeks.") && states("Report the final answer as weeks.") && states("weeks is the answer.")
    );
    assert!(!states("Do this for all weeks.") && !states("State weekly_rest for all weeks."));
    let [minutes] = &inputs(&[("total_minutes", "Minutes in all", "150")])[..] else { panic!() };
    assert!(asks_for_other_unit("State the answer in hours.", minutes));
    assert!(!asks_for_other_unit("State the minutes.", minutes) && !asks_for_other_unit("State the answer.", minutes));
}

#[test]
fn the_unit_of_a_variable_is_in_its_name_or_description() {
    let unit = |name: &str, description: &str| unit_of(name, description).map(|(unit, per)| (unit.name, per));
    assert_eq!(unit("price_cents", ""), Some(("cent", false)));
    assert_eq!(unit("rope_m", ""), Some(("metre", false)));
    assert_eq!(unit("pay_per_hour", ""), Some(("hour", true)));
    assert_eq!(unit("speed_kmh", ""), Some(("hour", true)));
    assert_eq!(unit("trip", "Minutes of the trip"), Some(("minute", false)));
    assert_eq!(unit("m", "Marbles"), None);
}

#[test]
fn steps_that_only_round_are_read() {
    let rounded = |text: &str, name: &str, value: &str, wrote: &str| {
        let inputs = inputs(&[(name, "", value)]);
        let expression = rounds(text, &inputs, Written::parse(wrote.as_bytes()));
        expression.and_then(|expression| expression.evaluate(|_| inputs[0].value)).map(|number| number.to_string())
    };
    for (text, value, wanted) in [
        ("Round up to the next whole number.", "3.25", "4"),
        ("Round trips up to the nearest whole number.", "3.25", "4"),
        ("Then round the result down", "3.75", "3"),
        ("Round to the nearest integer", "3.5", "4"),
        ("Round to the nearest dollar", "3.25", "3"),
        ("Round to two decimals", "3.149", "3.15"),
        ("Round the number of trips to 1 decimal place.", "3.149", "3.1"),
        ("Round up to the nearest hundredth", "3.141", "3.15"),
        ("Round to the nearest cent", "3.149", "3.149"),
        ("Round up to the nearest ten", "32.5", "40"),
        ("Round to the nearest $100", "1237.5", "1200"),
        ("Round up to the next multiple of 5", "32.5", "35"),
    ] {
        assert_eq!(rounded(text, "trips", value, "0").as_deref(), Some(wanted), "{text}");
    }
    // Of what lies halfway either neighbour is right.
    assert_eq!(rounded("Round to the nearest integer", "trips", "2.5", "2").as_deref(), Some("2"));
    for (text, name, value) in [
        ("Round up to the next whole number and add 1", "trips", "3.25"),
        ("Round up if any are left", "trips", "3.25"),
        ("Round up half of the trips", "trips", "3.25"),
        ("Round to 3 significant digits", "trips", "1237.5"),
        ("Round up to get 4", "trips", "3.25"),
        ("Round to the nearest whole percent", "part", "0.457"),
        ("Round up to the nearest hour", "minutes", "130"),
        ("Find the round trips", "trips", "3.25"),
        ("Count the rounds", "trips", "3.25"),
    ] {
        assert_eq!(rounded(text, name, value, "0"), None, "{text}");
    }
}

#[test]
fn operations_are_said_in_many_ways() {
    let boxes = [("pens", "", "84"), ("boxes", "", "12")];
    for (text, wanted) in [
        ("Find how many times the boxes goes into the pens.", "7"),
        ("Split the pens into as many equal parts as the boxes.", "7"),
        ("Distribute the pens equally over the boxes.", "nothing"),
        ("Find how many groups of the boxes fit into the pens.", "7"),
        ("Compute the ratio of the pens to the boxes.", "7"),
        ("Put the pens and the boxes together.", "nothing"),
        ("Find the total of the pens and the boxes.", "96"),
        ("Take the boxes away from the pens.", "72"),
        ("Remove the boxes from the pens.", "72"),
        ("Find what is left of the pens after the boxes are taken off.", "72"),
        ("Work out how much remains of the pens once the boxes are gone.", "72"),
        ("Determine how many more the pens is than the boxes.", "72"),
    ] {
        assert_eq!(result(text, &boxes), wanted, "{text}");
    }
    let boxes = [("pens", "", "90"), ("boxes", "", "12")];
    assert_eq!(result("Find how many full groups of the boxes fit into the pens.", &boxes), "7");
    assert_eq!(result("Find the side multiplied by the side.", &[("side", "", "7")]), "49");
}

#[test]
fn words_of_names_are_no_words_of_the_sentence() {
    let named = [("times_hat", "", "3"), ("less_price", "", "25")];
    assert_eq!(result("Multiply the less price by the times hat.", &named), "75");
    let numbered = [("quantity_1", "", "9"), ("after_sale", "", "5")];
    assert_eq!(result("Take the after sale away from the quantity 1.", &numbered), "4");
}

#[test]
fn common_wordings_are_understood() {
    let skips = [
        ("sam_skips_per_round", "Skips of Sam in each round", "16"),
        ("diff_round1", "Difference where Sam completed 1 more skip than Jeff", "1"),
    ];
    assert_eq!(result("Compute Jeff's skips in round 1 as Sam's skips minus the 1‑skip advantage.", &skips), "nothing");
    let half = [("sam_skips_per_round", "Skips of Sam", "16"), ("ratio_round4", "Factor of half as many skips", "2")];
    assert_eq!(result("Compute Jeff's skips in round 4 as Sam's skips divided by the half‑ratio.", &half), "8");
    let rounds = [
        ("jeff_round1", "Skips in round 1", "15"),
        ("jeff_round2", "", "13"),
        ("jeff_round3", "", "20"),
        ("jeff_round4", "", "8"),
        ("rounds", "Number of rounds", "4"),
    ];
    let text = "Calculate Jeff's average skips per round by summing his skips across all four rounds and dividing by the number of rounds.";
    assert_eq!(result(text, &rounds), "nothing");
    let cost = [
        ("cheddar_total_cost", "Total cost of cheddar", "10"),
        ("cheddar_qty", "Quantity of cheddar cheese in pounds", "2"),
    ];
    assert_eq!(result("Define the price per pound of cheddar cheese as total cost divided by quantity", &cost), "5");
    let three =
        [("cream_cheese_qty", "", "1"), ("cheddar_price_per_pound", "", "5"), ("cream_cheese_price_factor", "", "0.5")];
    assert_eq!(
        result(
            "Compute the total cost of cream cheese as quantity times cheddar unit price times the price factor",
            &three
        ),
        "nothing"
    );
    let total = [("price", "The price", "60"), ("discount", "The discount in dollars", "9")];
    for text in [
        "Subtract the discount from the price.",
        "Subtract discount from price to get the new price.",
        "Compute the new price by subtracting the discount from the price.",
        "Reduce the price by the discount.",
        "Find the difference between the price and the discount.",
        "The discount subtracted from the price.",
    ] {
        assert_eq!(result(text, &total), "51", "{text}");
    }
    for text in
        ["Multiply the price by the discount.", "The product of price and discount.", "Compute price times discount"]
    {
        assert_eq!(result(text, &total), "540", "{text}");
    }
    for text in [
        "Add the price and the discount.",
        "Sum the two values.",
        "Sum of price and discount",
        "Combine both amounts.",
        "Compute price plus discount",
    ] {
        assert_eq!(result(text, &total), "69", "{text}");
    }
    assert_eq!(
        result("Divide the price equally among the friends.", &[("price", "", "60"), ("friends", "", "5")]),
        "nothing"
    );
    assert_eq!(
        result("Compute the average of the three scores", &[("s1", "", "1"), ("s2", "", "4"), ("s3", "", "7")]),
        "nothing"
    );
    let scores =
        [("s1", "Score of the first test", "1"), ("s2", "Score of the second test", "4"), ("s3", "Score", "7")];
    assert_eq!(result("Compute the average of the three scores", &scores), "4");
    assert_eq!(result("Double the price", &[("price", "", "60")]), "120");
    assert_eq!(
        result(
            "Compute sales as twice last month's revenue.",
            &[("multiplier", "", "2"), ("last_month_sales", "", "600")]
        ),
        "nothing"
    );
    assert_eq!(
        result("Convert the survivors fraction to a percentage.", &[("survivors_fraction", "", "0.2625")]),
        "26.25"
    );
    assert_eq!(result("Convert minutes to hours", &[("total_minutes", "", "90")]), "1.5");
    assert_eq!(result("Convert the pints to gallons", &[("milk_pints", "", "12")]), "1.5");
    assert_eq!(result("Convert yards to meters", &[("length_yards", "", "12")]), "nothing");
    assert_eq!(result("Convert months to days", &[("months", "", "2")]), "nothing");
    let film = [("hours", "", "2"), ("minutes", "", "20")];
    assert_eq!(result("Convert hours to minutes and add the minutes.", &film), "nothing");
    assert_eq!(result("Take a twelfth of the price.", &[("price", "", "60")]), "5");
    assert_eq!(result("Multiply the price by fifteen.", &[("price", "", "60")]), "900");
    assert_eq!(result("Multiply hours by 60", &[("hours", "", "3")]), "180");
    assert_eq!(result("State the price as the final answer.", &[("price", "", "60")]), "60");
    let mixed = [
        ("packs", "Number of packs", "3"),
        ("pack_price", "Price of one pack", "5"),
        ("shipping", "Shipping cost", "7"),
    ];
    assert_eq!(result("Multiply the number of packs by the price of a pack and add the shipping cost.", &mixed), "22");
    assert_eq!(result("Compute packs times pack price plus shipping.", &mixed), "22");
}

/// A plan, its inputs as name, description and value, and what it gives.
type Case = (&'static str, &'static [(&'static str, &'static str, &'static str)], &'static str);

#[test]
fn plans_as_large_models_word_them() {
    let cases: &[Case] = &[
        (
            "Compute the total cost of all items by adding the cost of apples, the cost of pears, and the tax.",
            &[("apples_cost", "", "3"), ("pears_cost", "", "4"), ("tax", "Tax in dollars", "5")],
            "12",
        ),
        (
            "Define the remaining amount symbolically as total amount minus amount spent.",
            &[("spent_amount", "Amount spent", "4"), ("total_amount", "Total amount", "10")],
            "6",
        ),
        (
            "Calculate the discount amount as the original price multiplied by the discount percentage.",
            &[("original_price", "", "60"), ("discount_percent", "Discount in percent", "20")],
            "12",
        ),
        (
            "Determine profit by subtracting total cost from total revenue.",
            &[("total_cost", "", "4"), ("total_revenue", "", "10")],
            "6",
        ),
        (
            "Compute number of weeks as total savings divided by weekly savings.",
            &[("weekly_savings", "", "4"), ("total_savings", "", "20")],
            "5",
        ),
        (
            "Multiply hours_per_day by days_per_week to get hours per week.",
            &[("hours_per_day", "", "3"), ("days_per_week", "", "5")],
            "15",
        ),
        ("Express Jane's age as twice Tom's age plus 3.", &[("tom_age", "", "4")], "11"),
        ("Calculate the average by dividing the total by the count.", &[("count", "", "4"), ("total", "", "20")], "5"),
        ("Compute the number of red marbles as half the number of blue marbles.", &[("blue_marbles", "", "20")], "10"),
        (
            "Compute the number of red marbles as half of the blue marbles.",
            &[("blue_marbles", "", "20"), ("half_factor", "", "0.5")],
            "10",
        ),
        (
            "Sum the three amounts, then subtract the coupon.",
            &[("shirt", "", "1"), ("shoes", "", "2"), ("hat", "", "3"), ("coupon", "", "4")],
            "2",
        ),
        (
            "Compute the difference between the final and initial values.",
            &[("initial", "", "3"), ("final", "", "9")],
            "6",
        ),
    ];
    for (text, inputs, expected) in cases {
        assert_eq!(result(text, inputs), *expected, "{text}");
    }
}

#[test]
fn calculations_inside_calculations() {
    let cases: &[Case] = &[
        (
            "Calculate the value of one part by dividing total_beads by the sum of red_ratio and blue_ratio.",
            &[("red_ratio", "", "5"), ("blue_ratio", "", "7"), ("total_beads", "", "84")],
            "7",
        ),
        (
            "Calculate the average by dividing the total by the number of rounds (3).",
            &[("total_words", "Words spelled in all three rounds", "60")],
            "20",
        ),
        (
            "Convert the running time from minutes to hours by dividing by 60.",
            &[("running_time", "Running time", "135")],
            "nothing",
        ),
        (
            "Find how many more blue beads than red beads there are.",
            &[("blue_beads", "Number of blue beads", "49"), ("red_beads", "Number of red beads", "35")],
            "14",
        ),
        (
            "Express the number of green flowers as green_fraction times the sum of yellow and purple flowers.",
            &[("green_fraction", "", "0.25"), ("yellow_flowers", "", "10"), ("purple_flowers", "", "18")],
            "7",
        ),
        (
            "Define the unknown weight as the total weight minus the sum of the known weights of the box and the bag.",
            &[("total_weight", "", "30"), ("box_weight", "", "4"), ("bag_weight", "", "6")],
            "nothing",
        ),
        (
            "Compute the weekly cost as the sum of food cost and toy cost multiplied by the number of weeks.",
            &[("food_cost", "", "3"), ("toy_cost", "", "4"), ("num_weeks", "Number of weeks", "5")],
            "35",
        ),
        (
            "Calculate total miles driven in a day by multiplying the one-way distance by 2.",
            &[("one_way_distance", "Distance one way", "14")],
            "28",
        ),
        (
            "Compute the area as length times width and the cost by multiplying it by the price per square foot.",
            &[("length", "", "3"), ("width", "", "4"), ("price_per_sqft", "Price per square foot", "2")],
            "nothing",
        ),
        (
            "Multiply the number of adults by the adult price, multiply the number of children by the child price, and add the results.",
            &[
                ("adults", "Number of adults", "2"),
                ("adult_price", "", "10"),
                ("children", "Number of children", "3"),
                ("child_price", "", "5"),
            ],
            "35",
        ),
        (
            "Compute the remaining money by subtracting both costs from the budget.",
            &[("budget", "", "50"), ("shirt_cost", "", "12"), ("shoe_cost", "", "20")],
            "18",
        ),
        (
            "Determine the remaining budget after subtracting the shirt cost.",
            &[("budget", "", "50"), ("shirt_cost", "", "12")],
            "nothing",
        ),
        ("Compute the tip as 20% of the meal cost.", &[("meal_cost", "", "50")], "10"),
        ("Increase the rent by 10%.", &[("rent", "", "50")], "55"),
        ("Reduce the price by the discount percentage.", &[("price", "", "50"), ("discount_percent", "", "10")], "45"),
        ("Calculate the purple flowers as 80% more than the yellow flowers.", &[("yellow_flowers", "", "10")], "18"),
        ("Compute Bob's age as 5 less than twice Ann's age.", &[("ann_age", "", "10")], "15"),
        ("Define the number of boys as two-thirds of the number of girls", &[("girls", "Number of girls", "12")], "8"),
        ("Compute the number of boys as 2/3 of the number of girls.", &[("girls", "Number of girls", "12")], "8"),
        (
            "First, add the morning and afternoon sales, then subtract the returns.",
            &[("morning_sales", "", "10"), ("afternoon_sales", "", "20"), ("returns", "Goods returned", "5")],
            "nothing",
        ),
        (
            "Calculate the number of full boxes by dividing the eggs by the box size and rounding down.",
            &[("eggs", "", "310"), ("box_size", "", "12")],
            "25",
        ),
        (
            "Divide the members by the van capacity and round up to the nearest whole number.",
            &[("members", "", "43"), ("van_capacity", "", "8")],
            "6",
        ),
        (
            "Find the remainder of dividing the tulips by the bunch size.",
            &[("tulips", "", "275"), ("bunch_size", "", "12")],
            "11",
        ),
        (
            "Express the number of correct answers as a percentage of the questions.",
            &[("correct_answers", "", "34"), ("questions", "", "40")],
            "nothing",
        ),
        (
            "Multiply the number of plants by the minutes for each plant, then convert the result to hours.",
            &[("plants", "Number of plants", "36"), ("minutes_per_plant", "Minutes for each plant", "5")],
            "nothing",
        ),
        (
            "Subtract the number of red balls and the number of blue balls from the total number of balls.",
            &[("red_balls", "", "3"), ("blue_balls", "", "4"), ("total_balls", "", "20")],
            "13",
        ),
        ("Compute the ratio of cats to dogs.", &[("cats", "", "3"), ("dogs", "", "4")], "0.75"),
        (
            "Compute how many times the pump must run by dividing the tank capacity by the litres per run.",
            &[("tank_capacity", "", "60"), ("litres_per_run", "", "4")],
            "15",
        ),
        (
            "Calculate the earnings as hours worked multiplied by the hourly rate plus the bonus.",
            &[("hours_worked", "", "5"), ("hourly_rate", "", "10"), ("bonus", "", "7")],
            "57",
        ),
        (
            "Add the fixed fee to the product of hours and hourly rate.",
            &[("fixed_fee", "", "20"), ("hours", "", "3"), ("hourly_rate", "", "15")],
            "65",
        ),
        (
            "Compute Mina's share as the total times Mina's ratio divided by the sum of both ratios.",
            &[("total", "", "84"), ("mina_ratio", "", "5"), ("tom_ratio", "", "7")],
            "nothing",
        ),
        ("Halve the remaining cookies.", &[("remaining_cookies", "", "30")], "15"),
        ("Define the remaining fraction as 1 minus the used fraction.", &[("used_fraction", "", "0.25")], "0.75"),
        ("Take away the eaten slices from all slices.", &[("eaten_slices", "", "3"), ("all_slices", "", "8")], "5"),
        (
            "Sum the lengths of the three pieces and divide by 3 to find the mean length.",
            &[("piece1", "Length of piece 1", "3"), ("piece2", "", "5"), ("piece3", "", "10")],
            "nothing",
        ),
        (
            "Take away manager and bus.",
            &[("income", "Money earned", "90"), ("manager_cost", "", "30"), ("bus", "", "10")],
            "nothing",
        ),
        (
            "Compute the gross total as the sum of adults times adult price, children times child price, and parking.",
            &[
                ("adults", "", "2"),
                ("adult_price", "", "17"),
                ("children", "", "3"),
                ("child_price", "", "9"),
                ("parking", "", "12"),
            ],
            "73",
        ),
        (
            "Subtract the candies given to Ann and the candies given to Bob from the total candies.",
            &[("total_candies", "", "72"), ("given_to_ann", "", "24"), ("to_bob", "Candies given to Bob", "10")],
            "nothing",
        ),
        (
            "Compute the cost as the sum of the fee and the price, multiplied by the tax factor.",
            &[("fee", "", "2"), ("price", "", "3"), ("tax_factor", "", "4")],
            "20",
        ),
        ("Take the taxes from the pay.", &[("taxes", "", "5"), ("pay", "", "20")], "15"),
        (
            "Take them away and add those won.",
            &[("marbles", "", "45"), ("given", "", "24"), ("won", "", "11")],
            "nothing",
        ),
        (
            "Compute the total distance as speed multiplied by time for the first leg plus the distance of the second leg.",
            &[("speed", "", "3"), ("time", "", "5"), ("second_leg_distance", "", "10")],
            "nothing",
        ),
    ];
    for (text, inputs, expected) in cases {
        assert_eq!(result(text, inputs), *expected, "{text}");
    }
}

#[test]
fn what_is_not_sure_gives_nothing() {
    let two = [("first_value", "", "8"), ("second_value", "", "2")];
    for text in [
        "Compute the number of sections.",
        "Subtract one from the other.",
        "Divide the values.",
        "Compute the average by summing the scores.",
        "Add the values if they are positive.",
        "Remaining value not used, multiplied by the rest.",
        "Use the values to find the ratio.",
        "Combine the values. Then divide the values.",
        "Increase the first value by 20%.",
        "Reduce the second value by 20 percent.",
        "Count the number of times the values occur.",
    ] {
        assert_eq!(result(text, &two), "nothing", "{text}");
    }
    assert_eq!(
        result("Multiply the price by the quantity.", &[("price", "", "3"), ("quantity", "", "4"), ("tax", "", "2")]),
        "nothing"
    );
    assert_eq!(result("State the price as twice the final answer.", &[]), "nothing");
}

proptest! {
    #[test]
    fn no_sentence_panics_or_takes_long(
        words in prop::collection::vec(prop::sample::select(VOCABULARY), 0..70),
        count in 0_usize..12,
    ) {
        let text = words.join(" ");
        let names: Vec<String> = (0..count).map(|n| format!("{}_{n}", VOCABULARY[n * 3])).collect();
        let list: Vec<(&str, &str, &str)> = names.iter().map(|name| (name.as_str(), "Number of a", "7")).collect();
        let start = std::time::Instant::now();
        let _ = result(&text, &list);
        prop_assert!(start.elapsed().as_secs() < 2, "{text}");
    }
}

const VOCABULARY: &[&str] = &[
    "the",
    "sum",
    "of",
    "a",
    "b",
    "and",
    "add",
    "to",
    "by",
    "multiply",
    "product",
    "divide",
    "from",
    "subtract",
    "total",
    "cost",
    "price",
    "each",
    "5",
    "20%",
    "(3)",
    "twice",
    "half",
    "more",
    "than",
    "less",
    "times",
    "minus",
    "plus",
    "divided",
    "difference",
    "between",
    "average",
    "ratio",
    ",",
    ".",
    "then",
    "it",
    "both",
    "round",
    "up",
    "convert",
    "hours",
    "minutes",
    "how",
    "many",
    "as",
    "percentage",
    "1/2",
    "/",
    "*",
    "increase",
    "remainder",
    "share",
    "equally",
    "among",
    "take",
    "away",
    "—",
    "é",
];

#[test]
fn a_beginning_stands_under_its_first_letter() {
    let listed: usize = (b'a'..=b'z').map(|letter| stems(letter).len()).sum();
    assert_eq!(listed, (0..=u8::MAX).map(|byte| stems(byte).len()).sum::<usize>());
    for letter in b'a'..=b'z' {
        for stem in stems(letter) {
            assert_eq!(stem.as_bytes().first(), Some(&letter), "{stem}");
            assert!(may_plan(&format!("Then {stem}")), "{stem}");
        }
    }
}

#[test]
fn a_calculation_may_be_part_of_another() {
    let inputs = [("total", "All pens", "560"), ("ann", "Pens of Ann", "13"), ("bob", "Pens of Bob", "7")];
    for (text, wanted) in [
        ("Subtract the sum of ann and bob from total.", "540"),
        ("Subtract the difference between ann and bob from total.", "554"),
        ("Start with total and subtract the sum of ann and bob.", "540"),
        ("Find how much is left of total after subtracting ann and bob.", "540"),
        ("Divide the difference between total and bob by ann.", "553/13 ≈ 42.538"),
        ("Multiply ann by bob and subtract the product from total.", "469"),
        ("Compute the product of ann and bob, then subtract it from total.", "469"),
        ("Add ann and bob, then subtract the sum from the total.", "540"),
    ] {
        assert_eq!(result(text, &inputs), wanted, "{text}");
    }
    // Of two things that may be the result nobody knows which one is meant.
    assert_eq!(result("Add the difference between ann and bob.", &inputs), "nothing");
}

#[test]
fn words_that_ask_for_more_or_for_something_else_give_nothing() {
    let incomes =
        [("weeks", "weeks per year", "50"), ("first", "Weekly income", "700"), ("second", "Weekly income", "450")];
    for text in
        ["Combine the two weekly incomes and scale to a year.", "Add both weekly incomes and project to the year."]
    {
        assert_eq!(result(text, &incomes), "nothing", "{text}");
    }
    assert_eq!(result("Add the two weekly incomes and multiply by weeks.", &incomes), "57500");
    let ages = [("future_sum", "Sum of ages in 6 years", "62"), ("years", "Years ahead", "6")];
    for text in [
        "Remove the years both will have aged from the future sum.",
        "Since the heels cost 6 dollars less than the boots, add 6 to the sum.",
    ] {
        assert_eq!(result(text, &ages), "nothing", "{text}");
    }
    let day = [("morning_km", "km on each day", "3")];
    assert_eq!(result("Count days from Tuesday to Saturday and multiply by morning_km.", &day), "nothing");
    let wire = [("wire_length", "", "4"), ("piece_length", "", "6")];
    assert_eq!(result("Convert the wire length to inches and divide it by the piece length.", &wire), "nothing");
    let factors = [("factor_june", "", "1.1"), ("factor_july", "", "1.2")];
    assert_eq!(result("Combine both factors.", &factors), "nothing");
    // The same words twice are the same thing.
    let sales = [("january_sales", "", "400"), ("increase", "percentage increase", "25")];
    assert_eq!(result("Compute January sales plus 25% of January sales.", &sales), "500");
}

#[test]
fn more_ways_to_say_an_operation() {
    let three = [("alpha", "", "60"), ("beta", "", "10"), ("gamma", "", "5")];
    for (text, inputs, expected) in [
        ("Subtract beta from alpha, then divide what is left by gamma.", &three[..], "10"),
        ("Multiply beta by gamma, then divide alpha by that.", &three, "1.2"),
        ("From alpha, subtract the quotient of beta and gamma.", &three, "58"),
        ("alpha less beta, all multiplied by gamma", &three, "250"),
        ("Find what is left when alpha is divided by beta.", &three[..2], "0"),
        ("Find three-quarters of alpha.", &three[..1], "45"),
        ("Take 20% off alpha.", &three[..1], "48"),
        ("The floor area is alpha times beta.", &three[..2], "600"),
        ("The sum of 5 numbers with average 18 is 5 times 18.", &[("average", "", "18"), ("count", "", "5")], "90"),
    ] {
        assert_eq!(result(text, inputs), expected, "{text}");
    }
}

#[test]
fn what_is_counted_ordered_or_explained_in_a_clause_leaves_no_plan() {
    let two = [("side", "Side", "14"), ("width", "Width", "1")];
    for text in [
        "The length is the side plus the width on both sides.",
        "The outer side is the side increased by two widths.",
        "Divide the side by 2 after adding the width.",
        "Reduce the side by a fifth (20%).",
        "Subtract the width from the side, where the width is 20% of the side.",
        "Divide the side by the number of people, which is the width plus Ann.",
        "The width follows from side = width × height.",
        "Side minus (−1), so 1 on top, less width.",
        "half as much again as side times width",
        "The width is twice the side, so the side is found.",
    ] {
        assert_eq!(result(text, &two), "nothing", "{text}");
    }
    let rate = [("litres_per_100", "Litres per 100 km", "6"), ("kilometres", "Kilometres", "450")];
    assert_eq!(result("Multiply the kilometres by 6 litres per 100 km.", &rate), "nothing");
}
