//! `bindgen FILE.wasm DIR`: writes JavaScript, types and the module that they need into a folder.

use std::env;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [module, folder] = args.as_slice() else {
        return Err("usage: bindgen FILE.wasm DIR".into());
    };
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)?;
    Ok(())
}
