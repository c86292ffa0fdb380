//! Texts that are stored as differences (`DELTA_LENGTH_BYTE_ARRAY`, `DELTA_BYTE_ARRAY`), made plain: the library makes room
//! for as many as a page promises, and of each for as much as it repeats of the one before it. Here both are counted first.

use ::parquet::basic::{Encoding, Type as Physical};
use ::parquet::column::page::Page;
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;

use super::thrift::ThriftReader;
use crate::source::columns::TOO_LARGE;

const DAMAGED: &str = "its strings, which are stored as differences, are damaged";
/// Bytes that a value takes while its page is made plain: two lengths, and one in front of it.
const VALUE: usize = 3 * size_of::<u32>();

/// Levels of a column, and the type of its values.
#[derive(Clone, Copy)]
pub(super) struct PageShape {
    pub(super) repeated: bool,
    pub(super) optional: bool,
    pub(super) physical: Physical,
}

impl PageShape {
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
        let (repeated, optional) = (column.max_rep_level() > 0, column.max_def_level() > 0);
        Self { repeated, optional, physical: column.physical_type() }
    }
}

/// Makes the page of such a column plain, if it holds differences and takes no more than so many bytes then.
pub(super) fn make_plain(page: &mut Page, shape: PageShape, room: usize) -> Result<(), &'static str> {
    let Some(is_whole) = is_whole(page.encoding()).filter(|_| page.is_data_page()) else { return Ok(()) };
    let most = page.num_values() as usize;
    match page {
        Page::DataPage { buf, encoding, def_level_encoding, rep_level_encoding, .. } => {
            let mut levels = 0;
            for (is_there, kind) in [(shape.repeated, rep_level_encoding), (shape.optional, def_level_encoding)] {
                if is_there {
                    let len = buf.get(levels..).and_then(|rest| rest.first_chunk()).filter(|_| *kind == Encoding::RLE);
                    levels += 4 + u32::from_le_bytes(*len.ok_or(DAMAGED)?) as usize;
                }
            }
            *buf = with_plain(buf, levels, is_whole, shape.physical, most, room)?;
            *encoding = Encoding::PLAIN;
        }
        Page::DataPageV2 { buf, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let levels = (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize);
            *buf = with_plain(buf, levels, is_whole, shape.physical, most, room)?;
            *encoding = Encoding::PLAIN;
        }
        Page::DictionaryPage { .. } => {}
    }
    Ok(())
}

/// Tells whether such values are whole, only their lengths stored as differences; `None`: they are of another encoding.
fn is_whole(encoding: Encoding) -> Option<bool> {
    match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => Some(true),
        Encoding::DELTA_BYTE_ARRAY => Some(false),
        _ => None,
    }
}

/// Returns a page of so many bytes of levels with its values made plain.
fn with_plain(
    page: &[u8],
    levels: usize,
    is_whole: bool,
    physical: Physical,
    most: usize,
    room: usize,
) -> Result<Bytes, &'static str> {
    let (levels, rest) = page.split_at_checked(levels).ok_or(DAMAGED)?;
    let mut reader = ThriftReader { rest };
    let most = (most, room / VALUE);
    let repeated = if is_whole { None } else { Some(lengths(&mut reader, most)?) };
    let own = lengths(&mut reader, most)?;
    if repeated.as_ref().is_some_and(|repeated| repeated.len() != own.len()) {
        return Err(DAMAGED);
    }
    let repeated = |n: usize| repeated.as_ref().and_then(|repeated| repeated.get(n)).map_or(0, |len| *len as usize);
    let all = own.iter().enumerate().map(|(n, own)| *own as usize + repeated(n));
    let size = all.fold(levels.len() + own.len() * VALUE, usize::saturating_add);
    if size > room {
        return Err(TOO_LARGE);
    }
    let mut plain = Vec::with_capacity(size);
    plain.extend_from_slice(levels);
    // Where the value before begins.
    let mut before = plain.len();
    for (n, own) in own.iter().enumerate() {
        let (repeated, own) = (repeated(n), *own as usize);
        let value = reader.rest.split_off(..own).ok_or(DAMAGED)?;
        let again = before..before + repeated;
        if again.end > plain.len() {
            return Err(DAMAGED);
        }
        if physical == Physical::BYTE_ARRAY {
            plain.extend_from_slice(&((repeated + own) as u32).to_le_bytes());
        }
        before = plain.len();
        plain.extend_from_within(again);
        plain.extend_from_slice(value);
    }
    Ok(plain.into())
}

/// Reads lengths that are stored as differences (`DELTA_BINARY_PACKED`), if there are no more than the page may have and
/// there is room for.
fn lengths(reader: &mut ThriftReader<'_>, (most, room): (usize, usize)) -> Result<Vec<u32>, &'static str> {
    let mut number = || reader.varint().ok_or(DAMAGED);
    let (block, parts, count) = (number()?, number()?, number()?);
    let mut last = reader.zigzag().ok_or(DAMAGED)?;
    let count = usize::try_from(count).ok().filter(|count| *count <= most).ok_or(DAMAGED)?;
    if count > room {
        return Err(TOO_LARGE);
    }
    let part = block.checked_div(parts).filter(|part| part * parts == block && *part > 0 && part % 8 == 0);
    let sized = part.and_then(|part| usize::try_from(part).ok()).zip(usize::try_from(parts).ok());
    let (part, parts) = sized.ok_or(DAMAGED)?;
    let mut found = Vec::with_capacity(count);
    let mut push = |length: i64| {
        // Encoders for 32 bits let their differences overflow.
        let length = length as u32;
        i32::try_from(length).map(|_| found.push(length)).map_err(|_| DAMAGED)
    };
    if count > 0 {
        push(last)?;
    }
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let least = reader.zigzag().ok_or(DAMAGED)?;
        for width in reader.rest.split_off(..parts).ok_or(DAMAGED)? {
            // What follows the last length is not stored.
            if left == 0 {
                break;
            }
            let width = usize::from(*width);
            let bits = part.checked_mul(width).filter(|_| width <= 64).ok_or(DAMAGED)?;
            let packed = reader.rest.split_off(..bits / 8).ok_or(DAMAGED)?;
            for n in 0..part.min(left) {
                last = last.wrapping_add(least).wrapping_add(bits_at(packed, n * width, width).cast_signed());
                push(last)?;
            }
            left -= part.min(left);
        }
    }
    Ok(found)
}

/// Reads a number of up to 64 bits, the lowest first.
fn bits_at(packed: &[u8], at: usize, width: usize) -> u64 {
    let mut wide = [0; 16];
    wide.iter_mut().zip(packed.iter().skip(at / 8)).for_each(|(wide, own)| *wide = *own);
    let number = (u128::from_le_bytes(wide) >> (at % 8)) as u64;
    if width < 64 { number & ((1 << width) - 1) } else { number }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType};
    use ::parquet::file::properties::{WriterProperties, WriterVersion};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use stepscope_base::text::Shown;

    use super::super::read_blob;
    use super::*;
    use crate::source::open::Blob;

    /// Makes a table of a column of texts and one of bytes of one length, with nulls, in small pages.
    fn table(texts: &[Option<&[u8]>], encoding: Encoding, version: WriterVersion) -> Vec<u8> {
        let schema = "message m { optional binary a (UTF8); required fixed_len_byte_array(3) b; }";
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_column_encoding("a".into(), encoding)
            .set_column_encoding("b".into(), Encoding::DELTA_BYTE_ARRAY)
            .set_writer_version(version)
            .set_data_page_row_count_limit(700)
            .set_write_batch_size(100);
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties.build().into()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let levels: Vec<i16> = texts.iter().map(|text| text.is_some().into()).collect();
        let values: Vec<ByteArray> = texts.iter().flatten().map(|text| ByteArray::from(text.to_vec())).collect();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let fixed = |n: usize| FixedLenByteArray::from(ByteArray::from(vec![b'x', (n / 200) as u8, n as u8]));
        let values: Vec<FixedLenByteArray> = (0..texts.len()).map(fixed).collect();
        column.typed::<FixedLenByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    #[test]
    fn texts_that_are_stored_as_differences_are_the_texts() {
        let mut random = 7_u32;
        let mut next = |below: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as usize % below
        };
        let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
        for n in 1..2_000 {
            let before = &texts[n - 1];
            let kept = next(before.len() + 1);
            texts.push([&before[..kept], &vec![n as u8; next(40)], &vec![b'y'; next(300) / 290 * 5_000]].concat());
        }
        let texts: Vec<Option<&[u8]>> = texts.iter().map(|text| (next(9) > 0).then_some(&text[..])).collect();
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
                let bytes = table(&texts, encoding, version);
                let columns = read_blob(&Blob::of_bytes(Shown::own("t"), &bytes).unwrap(), &["a", "b"]).unwrap();
                assert_eq!(columns.rows, texts.len());
                for (row, text) in texts.iter().enumerate() {
                    assert_eq!(columns.cell(0, row).text(), *text, "{encoding} {row}");
                    assert_eq!(columns.cell(1, row).text(), Some(&[b'x', (row / 200) as u8, row as u8][..]), "{row}");
                }
            }
        }
    }

    #[test]
    fn texts_that_repeat_each_other_are_counted_before_they_are_made() {
        let long = vec![b'x'; 100_000];
        let read = |rows: usize| {
            let bytes = table(&vec![Some(&long[..]); rows], Encoding::DELTA_BYTE_ARRAY, WriterVersion::PARQUET_1_0);
            assert!(bytes.len() < 210_000, "{}", bytes.len());
            read_blob(&Blob::of_bytes(Shown::own("t"), &bytes).unwrap(), &["a"]).map(|columns| columns.rows)
        };
        assert_eq!(read(50).unwrap(), 50);
        assert!(read(1_000).unwrap_err().to_string().contains("far more memory than its size suggests"));
    }

    fn made(values: &[u8], encoding: Encoding, num_values: u32, room: usize) -> Result<Bytes, &'static str> {
        let (def_level_encoding, rep_level_encoding) = (Encoding::RLE, Encoding::RLE);
        let buf = Bytes::from(values.to_vec());
        let mut page =
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics: None };
        let shape = PageShape { repeated: false, optional: false, physical: Physical::BYTE_ARRAY };
        make_plain(&mut page, shape, room)?;
        assert_eq!(page.encoding(), Encoding::PLAIN);
        Ok(page.buffer().clone())
    }

    #[test]
    fn what_lengths_promise_is_looked_at() {
        let length = Encoding::DELTA_LENGTH_BYTE_ARRAY;
        // Blocks of 128 in 4 parts: one length, 2; then two of them, 2 and 1: the least difference is -1, in no bits.
        let one = [0x80, 1, 4, 1, 4, b'a', b'b'];
        assert_eq!(made(&one, length, 1, 100).unwrap(), &b"\x02\0\0\0ab"[..]);
        let two = [&[0x80, 1, 4, 2, 4, 1, 0, 0, 0, 0][..], b"abc"].concat();
        assert_eq!(made(&two, length, 2, 100).unwrap(), &b"\x02\0\0\0ab\x01\0\0\0c"[..]);
        assert_eq!(made(&two, length, 1, 100), Err(DAMAGED), "more than the page has");
        assert_eq!(made(&two, length, 2, 20), Err(TOO_LARGE));
        assert_eq!(made(&two[..12], length, 2, 100), Err(DAMAGED), "cut off");
        // 2 billion values of no bits in one block of as many.
        let many = [&[0x80, 0x80, 0x80, 0x80, 8, 1][..], &[0x80, 0x80, 0x80, 0x80, 8, 0], &[0, 0]].concat();
        assert_eq!(made(&many, length, u32::MAX, 12 << 20), Err(TOO_LARGE));
        // A length of -1, parts of no size, and more of them than there are bytes.
        for wrong in
            [&[0x80, 1, 4, 1, 1][..], &[0x80, 1, 0, 1, 4], &[4, 4, 2, 4, 1], &[0x80, 0x80, 0x80, 1, 0x80, 8, 2, 4, 1]]
        {
            assert_eq!(made(wrong, length, 9, 100), Err(DAMAGED), "{wrong:x?}");
        }
        // The first text repeats one before it; the second repeats more than there is.
        let array = Encoding::DELTA_BYTE_ARRAY;
        let again = |repeated: [u8; 2]| {
            let prefixes = [0x80, 1, 4, 2, repeated[0] << 1, repeated[1] << 1, 0, 0, 0, 0];
            [&prefixes[..], &[0x80, 1, 4, 2, 2, 0, 0, 0, 0, 0], b"ab"].concat()
        };
        assert_eq!(made(&again([0, 1]), array, 2, 100).unwrap(), &b"\x01\0\0\0a\x02\0\0\0ab"[..]);
        for repeated in [[1, 0], [0, 2]] {
            assert_eq!(made(&again(repeated), array, 2, 100), Err(DAMAGED));
        }
    }
}
