# The program as a package of Nix; the version is the one in Cargo.toml.
{ lib, stdenv, rustPlatform, installShellFiles }:

let
  about = (lib.importTOML ../../Cargo.toml).workspace.package;
in
rustPlatform.buildRustPackage {
  pname = "stepscope";
  inherit (about) version;

  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;
  buildType = "dist";
  cargoBuildFlags = [ "--bin" "stepscope" ];
  # The tests take ten minutes, and want Python, terminals and a home.
  doCheck = false;

  nativeBuildInputs = [ installShellFiles ];
  postInstall = lib.optionalString (stdenv.buildPlatform.canExecute stdenv.hostPlatform) ''
    for shell in bash zsh fish; do
      $out/bin/stepscope completions $shell > stepscope.$shell
    done
    installShellCompletion stepscope.{bash,zsh,fish}
    $out/bin/stepscope man > stepscope.1
    installManPage stepscope.1
  '';

  meta = {
    description = "See why a language model's run went wrong";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "stepscope";
    platforms = lib.platforms.unix;
  };
}
