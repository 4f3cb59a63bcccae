// SPDX-License-Identifier: MIT
// As calls.c, in Rust: which calls other libraries through GOT slots, without a PLT.
#[link(name = "calls")]
extern "C" {
    fn leaf();
    fn outer(x: i32) -> i32;
}

// In a function of its own: within a loop the compiler would load the slots once, before it.
#[inline(never)]
fn call_both(x: i32) -> i32 {
    // SAFETY: both take and return plain numbers.
    unsafe {
        leaf();
        outer(x)
    }
}

fn main() {
    let count: i32 = std::env::args().nth(1).map_or(100, |word| word.parse().unwrap());

    println!("{}", (0..count).map(call_both).sum::<i32>());
}
