//! "Did you mean": the known name nearest to a wrong one.

/// Names longer than this are not compared: no one's slip of the pen is that long.
const LONGEST: usize = 60;

/// Among more names than this only the first are compared: a message must not take minutes.
const MOST: usize = 5_000;

/// The nearest of `known` to `wrong`, if one is near enough to be a slip.
pub(crate) fn nearest<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let letters: Vec<char> = wrong.chars().collect();
    if letters.is_empty() || letters.len() > LONGEST {
        return None;
    }
    // One edit away from a name of one letter is every other such name.
    let allowed = (letters.len() / 3).max(1).min(letters.len() - 1);
    known
        .into_iter()
        .take(MOST)
        .filter(|name| name.len() <= LONGEST)
        .map(|name| (distance(&letters, &name.chars().collect::<Vec<_>>()), name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// Edits from one word to the other: insert, delete, replace, swap neighbours. Taking `-` for `_`
/// or leaving it out costs nothing.
fn distance(a: &[char], b: &[char]) -> usize {
    let a: Vec<char> = a
        .iter()
        .copied()
        .filter(|c| !matches!(c, '-' | '_'))
        .collect();
    let b: Vec<char> = b
        .iter()
        .copied()
        .filter(|c| !matches!(c, '-' | '_'))
        .collect();
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let at = i * width + j;
            table[at] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[at - width - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replaced.min(table[at - 1] + 1).min(table[at - width] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[at - 2 * width - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(
            nearest("ontable", ["on", "on-table", "clear"]),
            Some("on-table")
        );
        assert_eq!(nearest("claer", ["on", "clear"]), Some("clear"));
        assert_eq!(nearest("holding", ["on", "clear"]), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("", ["y"]), None);
    }
}
