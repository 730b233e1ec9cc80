//! Strongly connected components (Tarjan, with a stack of its own).

/// Strongly connected components, given what each node uses: by node the number of its component,
/// which is higher than those of the components it uses, and whether it lies on a cycle.
pub(crate) fn components(uses: &[Vec<u32>]) -> (Vec<u32>, Vec<bool>) {
    const NEW: u32 = u32::MAX;
    let mut index = vec![NEW; uses.len()];
    let mut low = vec![0u32; uses.len()];
    let mut on_stack = vec![false; uses.len()];
    let mut order = vec![0u32; uses.len()];
    let mut recursive = vec![false; uses.len()];
    let mut stack: Vec<u32> = Vec::new();
    let mut calls: Vec<(u32, usize)> = Vec::new();
    let (mut next, mut completed) = (0, 0);
    for start in 0..uses.len() as u32 {
        if index[start as usize] != NEW {
            continue;
        }
        calls.push((start, 0));
        while let Some(&mut (node, ref mut at)) = calls.last_mut() {
            let here = node as usize;
            if *at == 0 {
                index[here] = next;
                low[here] = next;
                next += 1;
                stack.push(node);
                on_stack[here] = true;
            }
            if let Some(&used) = uses[here].get(*at) {
                *at += 1;
                recursive[here] |= used == node;
                if index[used as usize] == NEW {
                    calls.push((used, 0));
                } else if on_stack[used as usize] {
                    low[here] = low[here].min(index[used as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                low[caller as usize] = low[caller as usize].min(low[here]);
            }
            if low[here] == index[here] {
                let several = stack.last() != Some(&node);
                while let Some(member) = stack.pop() {
                    on_stack[member as usize] = false;
                    order[member as usize] = completed;
                    recursive[member as usize] |= several;
                    if member == node {
                        break;
                    }
                }
                completed += 1;
            }
        }
    }
    (order, recursive)
}
