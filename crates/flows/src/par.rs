//! Forks: branches with names, each with a mailbox of its own.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::future::Future;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Context;
use std::task::Poll;

use crate::Cx;
use crate::request::Request;
use crate::run::Halt;
use crate::run::lock;

struct Branch<F> {
    path: String,
    future: Pin<Box<F>>,
}

/// The state of one fork. Branches keep the index at which they were named.
struct Fork<I, T, F> {
    /// `path/key` of the fork; branch paths are `base:name`.
    base: String,
    limit: usize,
    todo: VecDeque<(usize, String, I)>,
    open: BTreeMap<usize, Branch<F>>,
    index: BTreeMap<String, usize>,
    done: BTreeMap<usize, T>,
}

impl<I, T, F: Future<Output = T>> Fork<I, T, F> {
    /// Branches whose mail has come since the last turn.
    fn woken(&self, cx: &Cx) -> Vec<usize> {
        let prefix = format!("{}:", self.base);
        let hub = lock(&cx.hub);
        let mut woken = Vec::new();
        for key in hub.fresh.range(prefix.clone()..).take_while(|k| k.starts_with(&prefix)) {
            let name = key[prefix.len()..].split('/').next().unwrap_or_default();
            if let Some(&i) = self.index.get(name)
                && woken.last() != Some(&i)
                && self.open.contains_key(&i)
            {
                woken.push(i);
            }
        }
        woken
    }

    fn poll_branch(&mut self, i: usize, context: &mut Context<'_>) {
        let Some(branch) = self.open.get_mut(&i) else { return };
        if let Poll::Ready(value) = branch.future.as_mut().poll(context) {
            self.open.remove(&i);
            self.done.insert(i, value);
        }
    }

    /// Starts branches while there are places. A branch that is parked does not take one.
    fn start(&mut self, cx: &Cx, context: &mut Context<'_>, f: &mut impl FnMut(Cx, I) -> F) {
        while !self.todo.is_empty() && self.busy(cx) < self.limit {
            let Some((i, name, item)) = self.todo.pop_front() else { return };
            let path = format!("{}:{name}", self.base);
            let future = Box::pin(f(Cx::at(&cx.hub, path.clone()), item));
            self.open.insert(i, Branch { path, future });
            self.poll_branch(i, context);
        }
    }

    fn busy(&self, cx: &Cx) -> usize {
        if self.open.len() < self.limit {
            return self.open.len();
        }
        let hub = lock(&cx.hub);
        self.open.values().filter(|b| hub.busy_below(&b.path)).count()
    }
}

fn name_fault(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find_map(|(i, name)| {
        let bad = name.is_empty() || name.contains(['/', ':']) || names[..i].contains(name);
        bad.then_some(name)
    })
}

impl Cx {
    /// Runs `f` once per item, at most `limit` at work at a time, each in a scope of its own. A finished branch is
    /// never run again. While it lasts, this scope counts as open: a branch cannot use its parent's mailbox.
    pub async fn par<I, T, F>(
        &self,
        limit: usize,
        items: Vec<(String, I)>,
        mut f: impl FnMut(Cx, I) -> F,
    ) -> Vec<T>
    where
        F: Future<Output = T>,
    {
        let names: Vec<String> = items.iter().map(|(name, _)| name.clone()).collect();
        let base = self.key();
        if let Some(name) = name_fault(&names) {
            lock(&self.hub).halt(Halt::BranchName { name: name.clone() });
            return std::future::pending().await;
        }
        let index = names.iter().cloned().zip(0..).collect();
        self.fact(&base, Request::Par { names, limit: u32::try_from(limit).unwrap_or(u32::MAX) });
        if self.open.swap(true, Relaxed) {
            return std::future::pending().await;
        }
        let mut fork = Fork {
            base,
            limit: limit.max(1),
            todo: items.into_iter().enumerate().map(|(i, (name, item))| (i, name, item)).collect(),
            open: BTreeMap::new(),
            index,
            done: BTreeMap::new(),
        };
        poll_fn(|context| {
            for i in fork.woken(self) {
                fork.poll_branch(i, context);
            }
            fork.start(self, context, &mut f);
            if fork.open.is_empty() && fork.todo.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        self.open.store(false, Relaxed);
        fork.done.into_values().collect()
    }
}
