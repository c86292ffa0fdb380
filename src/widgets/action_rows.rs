//! The actions, a row each: what a key, the palette and the documents can name.

/// Hands the rows of all actions to a macro: name, id, the title where it is not the id, whether it saves something or only
/// shows, its kinds, and fields of `ActionDef` that allow and do it. The names are made of the first part in
/// `widgets::keymap`, which knows no screen, and the definitions of the rest in `app::actions::def`. What a row does not say
/// is refused.
macro_rules! action_rows {
    ($make:ident) => {
        $make! {
            Back = "back", Shows [plain] in_dialog: InDialog::Always, needs: Needs::Nothing, run: |app, _, _| back(app);
            Quit = "quit", Shows [plain] in_dialog: InDialog::If(unless_typing), needs: Needs::Nothing,
                run: |app, _, _| quit(app);
            Help = "help", Shows [plain] needs: Needs::Nothing, run: |app, _, _| done(app.screens.open_dialog(Dialog::Help));
            Palette = "palette", Shows [plain] needs: Needs::Nothing,
                run: |app, _, _| done(app.screens.open_dialog(Dialog::Palette(Palette::default())));
            Escape = "escape", Shows [plain decides] in_dialog: InDialog::Always, needs: Needs::Nothing,
                run: |app, _, _| escape(app);
            Down = "down", Shows [moves] in_dialog: InDialog::If(scrolls), needs: Needs::Nothing,
                run: |app, _, times| done(app.go(Move::By(times)));
            Up = "up", Shows [moves] in_dialog: InDialog::If(scrolls), needs: Needs::Nothing,
                run: |app, _, times| done(app.go(Move::By(-times)));
            Left = "left", Shows [] in_dialog: InDialog::If(in_derivation), needs: Needs::Nothing;
            Right = "right", Shows [] in_dialog: InDialog::If(in_derivation), needs: Needs::Nothing;
            Top = "top", Shows [moves] in_dialog: InDialog::If(scrolls), needs: Needs::Nothing,
                run: |app, _, _| done(app.go(to_line(app.count, 0)));
            Bottom = "bottom", Shows [moves] in_dialog: InDialog::If(scrolls), needs: Needs::Nothing,
                run: |app, _, _| done(app.go(to_line(app.count, usize::MAX)));
            HalfDown = "half_page_down", Shows [moves] in_dialog: InDialog::If(scrolls), needs: Needs::Nothing,
                run: |app, _, times| done(app.go(Move::HalfPages(times)));
            HalfUp = "half_page_up", Shows [moves] in_dialog: InDialog::If(scrolls), needs: Needs::Nothing,
                run: |app, _, times| done(app.go(Move::HalfPages(-times)));
            PageDown = "page_down", Shows [moves] in_dialog: InDialog::If(scrolls), needs: Needs::Nothing,
                run: |app, _, times| done(app.go(Move::Pages(times)));
            PageUp = "page_up", Shows [moves] in_dialog: InDialog::If(scrolls), needs: Needs::Nothing,
                run: |app, _, times| done(app.go(Move::Pages(-times)));
            Open = "open", Shows [decides] in_dialog: InDialog::Asks(may_open_in), needs: Needs::Nothing;
            NextStep = "next_step", Shows [] needs: Needs::Record(of_steps);
            PreviousStep = "previous_step", Shows [] needs: Needs::Record(of_steps);
            NextRecord = "next_record", Shows [leads] needs: Needs::Asks(|app, _| may_turn(&app.screens, &app.store, &app.table, &app.forks.tree, 1)),
                run: |app, _, times| go_to_record(app, record_from(&app.screens, &app.store, &app.table, &app.forks.tree, times));
            PreviousRecord = "previous_record", Shows [leads] needs: Needs::Asks(|app, _| may_turn(&app.screens, &app.store, &app.table, &app.forks.tree, -1)),
                run: |app, _, times| go_to_record(app, record_from(&app.screens, &app.store, &app.table, &app.forks.tree, -times));
            NextPane = "next_pane", Shows [] needs: Needs::Another(ONE_PANE);
            PreviousPane = "previous_pane", Shows [] needs: Needs::Another(ONE_PANE);
            Maximise = "maximise", Shows [] needs: Needs::Another(ONE_PANE),
                run: |app, _, _| maximise(&mut app.screens);
            JumpBack = "jump_back", Shows [] needs: Needs::Asks(|app, action| app.jumps.allowed(action)),
                run: |app, _, _| jump(app, true);
            JumpForth = "jump_forward", Shows [] needs: Needs::Asks(|app, action| app.jumps.allowed(action)),
                run: |app, _, _| jump(app, false);
            Messages = "messages", Shows [plain] needs: Needs::Nothing, run: |app, _, _| done(app.screens.open_dialog(messages(&app.status)));
            Find = "find", Shows [] in_dialog: InDialog::If(in_help), needs: Needs::Nothing,
                run: |app, _, _| done(app.screens.open_prompt(PromptPurpose::Find, String::new()));
            FindNext = "find_next", Shows [] needs: Needs::Asks(|app, _| has_searched(&app.screens, &app.table)),
                run: |app, _, times| done(find_by(app, times));
            FindPrevious = "find_previous", Shows [] needs: Needs::Asks(|app, _| has_searched(&app.screens, &app.table)),
                run: |app, _, times| done(find_by(app, -times));
            Filter = "filter", Shows [] in_dialog: InDialog::If(in_batch), needs: Needs::Another(TABLE_FIRST);
            NextFinding = "next_finding", Shows [] needs: Needs::Finding,
                run: go_to_wanted;
            PreviousFinding = "previous_finding", Shows [] needs: Needs::Finding,
                run: |app, action, times| go_to_wanted(app, action, -times);
            NextWrong = "next_wrong" ("next wrong record"), Shows [] needs: Needs::Wanted,
                run: go_to_wanted;
            PreviousWrong = "previous_wrong" ("previous wrong record"), Shows [] needs: Needs::Wanted,
                run: |app, action, times| go_to_wanted(app, action, -times);
            NextFlagged = "next_with_findings" ("next record with findings"), Shows [] needs: Needs::Wanted,
                run: go_to_wanted;
            PreviousFlagged = "previous_with_findings" ("previous record with findings"), Shows [] needs: Needs::Wanted,
                run: |app, action, times| go_to_wanted(app, action, -times);
            NextCitation = "next_span" ("next citation"), Shows [] needs: Needs::Another(NO_CITATIONS);
            PreviousCitation = "previous_span" ("previous citation"), Shows [] needs: Needs::Another(NO_CITATIONS);
            Contents = "contents", Shows [] needs: Needs::Another(NO_CITATIONS);
            CopyQuote = "copy_quote", Shows [] needs: Needs::Another(NO_CITATIONS);
            Writer = "writer" ("go to writer"), Shows [] needs: Needs::Record(of_steps);
            Reader = "reader" ("go to reader"), Shows [] needs: Needs::Record(of_steps);
            NextPeer = "next_peer", Shows [] needs: Needs::Record(of_steps);
            PreviousPeer = "previous_peer", Shows [] needs: Needs::Record(of_steps);
            Prove = "prove" ("why this value"), Shows [] needs: Needs::Another(GO_BACK);
            Difference = "difference" ("diff"), Shows [leads] needs: Needs::Record(of_steps);
            Rewards = "ladder" ("reward"), Shows [] needs: Needs::Record(has_rewards),
                run: |app, _, _| done(app.screens.open_dialog(Dialog::Rewards));
            Compare = "matrix" ("compare"), Shows [] opens: Some(ScreenKind::Compare),
                first: Own(|app, _| Some(may_compare(&app.across, &app.review))), run: of_all;
            Baseline = "baseline", Shows [] opens: Some(ScreenKind::SideBySide), first: Own(|app, screen| {
                let record = current(&app.screens, &app.store, &app.table);
                let beside = || may_put_beside(&app.across, &app.store, &app.review, record);
                Some(may_show_baseline(&app.across, screen, beside))
            }),
                run: |app, _, _| current(&app.screens, &app.store, &app.table).map_or_else(Vec::new, |record| put_beside(app, record));
            Dashboard = "boards" ("dashboard"), Shows [] opens: Some(ScreenKind::Dashboard),
                first: Own(|app, _| Some(may_count(&app.review, Action::Dashboard))), run: of_all;
            Adjudication = "disputes" ("adjudicate"), Shows [] opens: Some(ScreenKind::Adjudication),
                first: Own(|app, _| Some(may_count(&app.review, Action::Adjudication))), run: of_all;
            Insights = "insights", Shows [] opens: Some(ScreenKind::Insights),
                first: Own(|app, _| Some(may_count(&app.review, Action::Insights))), run: of_all;
            Frequency = "frequency", Shows [] first: Own(|app, _| may_count(&app.review, Action::Frequency).err().map(Err)),
                needs: Needs::Another(TABLE_FIRST);
            Explain = "explain", Shows [] first: Own(|_, _| Some(Ok(()))), run: |app, _, _| {
                let said = (app.screens.top().def().explain)(app);
                app.status.say(said.unwrap_or_else(|| app.keymap.shown("<help> explains the symbols of this screen")))
            };
            DecidePass = "decide_pass", Saves [] first: Own(|_, screen| in_adjudication(screen));
            DecideFail = "decide_fail", Saves [] first: Own(|_, screen| in_adjudication(screen));
            Rerun = "rerun" ("re-run"), Shows [forks] needs: Needs::Asks(|app, action| may_rerun(&app.screens, &app.models, action));
            RerunFromHere = "rerun_from_here" ("re-run from here"), Shows [forks] needs: Needs::Asks(|app, action| may_rerun(&app.screens, &app.models, action));
            RerunStale = "rerun_stale" ("re-run dependents"), Shows [forks] needs: Needs::Asks(|app, action| may_rerun(&app.screens, &app.models, action));
            RerunSamples = "rerun_samples" ("sample"), Shows [forks] needs: Needs::Asks(|app, action| may_rerun(&app.screens, &app.models, action));
            StepThrough = "step_through", Shows [forks] needs: Needs::Asks(|app, _| may_step_through(&app.screens, &app.models)),
                run: |app, _, _| live::begin::step_through(app);
            Create = "create", Shows [plain] needs: Needs::Asks(|app, _| may_create(&app.screens, &app.models)),
                run: |app, _, _| done(app.screens.open_dialog(live::begin::question_editor()));
            RunStep = "run_step", Shows [] needs: Needs::Another(NOT_LIVE);
            Continue = "continue", Shows [] needs: Needs::Another(NOT_LIVE);
            Breakpoint = "breakpoint", Shows [] needs: Needs::Another(NOT_LIVE);
            Tolerate = "tolerate" ("take JSON"), Shows [] needs: Needs::Another(NOT_LIVE);
            Json = "json", Shows [] opens: Some(ScreenKind::Json), needs: Needs::Nothing, run: |app, _, _| if app.screens.turn_json() { Vec::new() } else { back(app) };
            Fold = "fold" ("collapse"), Shows [] in_dialog: InDialog::If(folds), needs: Needs::Another(JSON_FIRST);
            NextSibling = "next_sibling", Shows [] needs: Needs::Another(JSON_FIRST);
            PreviousSibling = "previous_sibling", Shows [] needs: Needs::Another(JSON_FIRST);
            FoldAll = "fold_all" ("collapse all"), Shows [] in_dialog: InDialog::If(in_derivation),
                needs: Needs::Another(JSON_FIRST);
            UnfoldAll = "unfold_all" ("expand all"), Shows [] in_dialog: InDialog::If(in_derivation),
                needs: Needs::Another(JSON_FIRST);
            CopyValue = "copy_value", Shows [] in_dialog: InDialog::If(on_text), needs: Needs::Nothing,
                run: |app, action, _| copy(&app.screens, &mut app.status, action);
            CopyPath = "copy_path", Shows [] needs: Needs::Nothing, run: |app, action, _| copy(&app.screens, &mut app.status, action);
            CopyQuestion = "copy_question", Shows [] needs: Needs::Nothing, run: |app, action, _| copy(&app.screens, &mut app.status, action);
            CopyStep = "copy_step", Shows [] needs: Needs::Another("no step here"),
                run: |app, action, _| copy(&app.screens, &mut app.status, action);
            CopyRecord = "copy_record", Shows [] needs: Needs::Nothing, run: |app, action, _| copy(&app.screens, &mut app.status, action);
            CopyLink = "copy_link", Shows [acts] first: Own(|app, _| Some(link(&app.screens, &app.store, &app.table, &app.forks.tree, app.models.samples).map(drop))),
                run: |app, _, _| {
                    let link = link(&app.screens, &app.store, &app.table, &app.forks.tree, app.models.samples);
                    copy_link(link, &app.keymap, &mut app.status)
                };
            SortNext = "sort_next", Shows [] needs: Needs::Another(TABLE_FIRST);
            SortPrevious = "sort_previous", Shows [] needs: Needs::Another(TABLE_FIRST);
            SortReverse = "sort_reverse", Shows [] needs: Needs::Another(TABLE_FIRST);
            Columns = "columns", Shows [] needs: Needs::Another(TABLE_FIRST);
            View = "view", Shows [] needs: Needs::Another(TABLE_FIRST);
            SaveView = "view_save", Saves [] needs: Needs::Another(TABLE_FIRST);
            DeleteView = "view_delete", Saves [] in_dialog: InDialog::If(in_views), needs: Needs::Another(TABLE_FIRST);
            NextFork = "next_fork", Shows [leads] needs: Needs::Asks(|app, _| need(app.fork_tree().len() > 1, NO_FORKS)),
                run: |app, _, times| go_to_record(app, fork_from(&app.screens, &app.store, &app.table, &app.forks.tree, times));
            PreviousFork = "previous_fork", Shows [leads] needs: Needs::Asks(|app, _| need(app.fork_tree().len() > 1, NO_FORKS)),
                run: |app, _, times| go_to_record(app, fork_from(&app.screens, &app.store, &app.table, &app.forks.tree, -times));
            Pass = "pass", Saves [judges] first: Review(may_judge), run: |app, action, _| review_action(app, action);
            Fail = "fail", Saves [judges] first: Review(may_judge), run: |app, action, _| review_action(app, action);
            Defer = "defer", Saves [judges] first: Review(may_pass_over),
                run: |app, action, _| review_action(app, action);
            Skip = "skip", Saves [judges] first: Review(may_pass_over),
                run: |app, action, _| review_action(app, action);
            BadStep = "bad_step" ("first wrong step"), Saves [judges] first: Review(may_name_step),
                run: |app, action, _| review_action(app, action);
            GoldStatus = "gold_status" ("expected answer"), Saves [judges] first: Review(may_judge),
                run: |app, action, _| review_action(app, action);
            FixTarget = "fix_target" ("where to fix"), Saves [judges] first: Review(may_judge),
                run: |app, action, _| review_action(app, action);
            Correct = "correct" ("correct answer"), Saves [judges] first: Review(may_judge),
                run: |app, action, _| review_action(app, action);
            Note = "note", Saves [judges] first: Review(may_judge), run: |app, action, _| review_action(app, action);
            Undo = "undo", Saves [] first: Review(may_undo), run: |app, action, _| review_action(app, action);
            Redo = "redo", Saves [] first: Review(may_redo), run: |app, action, _| review_action(app, action);
            NextOpen = "next_open" ("next unreviewed"), Shows [leads] first: Review(may_judge),
                run: |app, action, _| review_action(app, action);
            Reveal = "reveal", Saves [acts] first: Review(may_reveal),
                run: |app, action, _| review_action(app, action);
            Edit = "edit" ("override"), Shows [forks] needs: Needs::Another(NO_RUN);
            TakeEdit = "take_edit", Shows [] in_dialog: InDialog::If(takes_edit), needs: Needs::Another(TYPING);
            ExternalEditor = "external_editor", Shows [] in_dialog: InDialog::Asks(|app, kind| may_leave_to_editor(&app.outside, kind)),
                needs: Needs::Another(TYPING);
            DropEdits = "drop_edits" ("discard overrides"), Shows [] needs: Needs::Record(has_edits),
                run: |app, _, _| done(run::edit::drop_edits(&mut app.screens, &mut app.forks, &mut app.status));
            Keep = "keep" ("save fork"), Saves [] needs: Needs::Another("nothing to save here");
            Export = "export", Saves [plain acts] needs: Needs::Nothing, run: |app, _, _| {
                app.screens.open_dialog(Dialog::Export);
                app.screens.scroll.at = app.export.row();
                Vec::new()
            };
            Exact = "execute_exactly" ("recompute"), Shows [forks] needs: Needs::Another(NO_RUN);
            Repair = "repair", Shows [forks] needs: Needs::Another(NO_RUN);
            Between = "between_steps" ("diff steps"), Shows [leads] needs: Needs::Another(NO_RUN);
            SaveAgain = "save_again", Saves [] first: Own(|app, _| Some(is_unsaved(&app.log))),
                run: |app, _, _| save_again(&mut app.log, &mut app.status);
            LabelAll = "label_all", Saves [] first: Review(may_label_all),
                run: |app, action, _| review_action(app, action);
            PassPart = "pass_part", Saves [judges] first: Review(may_judge_part),
                run: |app, action, _| review_action(app, action);
            FailPart = "fail_part", Saves [judges] first: Review(may_judge_part),
                run: |app, action, _| review_action(app, action);
            SameVerdict = "same_verdict", Saves [acts] first: Review(may_repeat),
                run: |app, action, _| review_action(app, action);
            Guidelines = "guidelines", Shows [] first: Review(may_judge),
                run: |app, action, _| review_action(app, action);
            GiveLabel = "give_label", Shows [acts decides] first: Review(may_label),
                run: |app, action, _| review_action(app, action);
            SaveFail = "save_fail", Saves [acts] first: Review(may_label),
                run: |app, action, _| review_action(app, action);
            FindLabel = "find_label", Saves [decides] first: Review(may_label),
                run: |app, action, _| review_action(app, action);
            PutAside = "put_aside", Shows [] first: Review(may_label),
                run: |app, action, _| review_action(app, action);
            NewLabel = "new_label", Saves [] in_dialog: InDialog::Asks(|app, _| allowed_for_label(app.screens.dialog.as_ref(), &[], Action::NewLabel)),
                needs: Needs::Another(TYPING);
            RenameLabel = "rename_label", Saves [] in_dialog: InDialog::Asks(|app, _| {
                let fits = labels_that_fit(&app.screens, &app.across, &app.review, &app.store, &app.table);
                allowed_for_label(app.screens.dialog.as_ref(), &fits, Action::RenameLabel)
            }),
                needs: Needs::Another(TYPING);
            MergeLabel = "merge_label", Saves [] in_dialog: InDialog::Asks(|app, _| {
                let fits = labels_that_fit(&app.screens, &app.across, &app.review, &app.store, &app.table);
                allowed_for_label(app.screens.dialog.as_ref(), &fits, Action::MergeLabel)
            }),
                needs: Needs::Another(TYPING);
            Confirm = "confirm", Saves [] in_dialog: InDialog::If(|kind, _| kind == Context::Confirm),
                needs: Needs::Another(TYPING);
            DropText = "drop_text", Shows [] in_dialog: InDialog::If(|kind, _| kind == Context::Drop),
                needs: Needs::Another(TYPING);
            Review = "review", Saves [plain] first: Own(|app, _| Some(app.review.place.why_not().map_or(Ok(()), Err))),
                run: |app, _, _| turn_review(app);
            Tour = "tour", Shows [plain] needs: Needs::Nothing,
                run: |app, _, _| vec![Effect::Tour(app.looks.chosen.clone())];
            Present = "present", Shows [plain] needs: Needs::Nothing, run: |app, _, _| present::keys::turn(&mut app.presenting, &mut app.status);
            Theme = "theme", Shows [plain] in_dialog: InDialog::If(unless_typing), needs: Needs::Nothing,
                run: |app, _, _| next_theme(&mut app.looks, &mut app.status);
            Mouse = "mouse", Shows [plain] in_dialog: InDialog::If(unless_typing), needs: Needs::Nothing,
                run: |app, _, _| turn_mouse(&mut app.mouse, &mut app.status);
            Suspend = "suspend", Shows [plain] in_dialog: InDialog::If(unless_typing), needs: Needs::Nothing,
                run: |_, _, _| vec![Effect::Suspend];
            Redraw = "redraw", Shows [plain] in_dialog: InDialog::If(unless_typing), needs: Needs::Nothing,
                run: |_, _, _| vec![Effect::Repaint];
        }
    };
}
pub(crate) use action_rows;
