//! A tape of operations on f32 matrices, played backwards for gradients.
//!
//! A [`Tape`] computes as it records: each operation gives a [`Var`], a matrix of rows and columns
//! whose values are there at once. [`Tape::backward`] then walks the record from its end and adds
//! up the derivatives by every parameter. What a network learns lies in one flat buffer, cut into
//! named matrices by a [`Layout`]; [`Adam`](homing_nlm::Adam) moves it.
//!
//! Rows of all graphs of a batch lie in one matrix, and [`Segments`] say which rows belong
//! together. Every sum has one order, given by the shapes alone; [`add_up`] shares chunks of a
//! batch out among threads and adds their gradients in the order of chunks. So the same seed gives
//! the same bytes on any number of threads.
//!
//! Nothing here knows what the numbers mean.
//!
//! ```
//! use homing_nlm::{Adam, Simd, SplitMix64};
//! use homing_tape::{Buffers, Layout, Tape};
//!
//! // y = b + w tanh(c + v x), to fit y = x² at a few points.
//! let mut layout = Layout::default();
//! let hidden = layout.linear("hidden", 1, 8);
//! let output = layout.linear("output", 8, 1);
//! let mut parameters = layout.init(&mut SplitMix64::new(1));
//! let mut adam = Adam::with(layout.len(), 0.01, 0.0);
//! let points = [-1.0, -0.5, 0.0, 0.5, 1.0_f32];
//! let targets: Vec<f32> = points.iter().map(|x| x * x).collect();
//! let mut error = 0.0;
//! for _ in 0..500 {
//!     let mut tape = Tape::new(&layout, &parameters, Simd::best(), Buffers::default());
//!     let x = tape.input(5, 1, &points);
//!     let h = tape.linear(hidden, &[x]);
//!     let h = tape.tanh(h);
//!     let y = tape.linear(output, &[h]);
//!     let loss = tape.squared_error(y, targets.as_slice().into());
//!     error = tape.value(loss).iter().sum::<f32>() / 5.0;
//!     let mut gradient = vec![0.0; layout.len()];
//!     tape.backward(&[(loss, 0.2)], &mut gradient);
//!     adam.step(&mut parameters, &gradient);
//! }
//! assert!(error < 0.01, "{error}");
//! ```

mod backward;
mod chunks;
mod layout;
mod segments;
mod tape;

pub use chunks::add_up;
pub use layout::{Layout, Linear, Matrix, Named};
pub use segments::{NONE, Segments};
pub use tape::{Buffers, Tape, Var, dot};
