# The formula of a tap. `scripts/package.sh` fills in where the sources are and their digest, once there is an address
# (`repository` in Cargo.toml).
class Stepscope < Formula
  desc "See why a language model's run went wrong"
  homepage "@repository@"
  url "@repository@/releases/download/v0.1.0/stepscope-0.1.0.tar.gz"
  sha256 "@sha256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    generate_completions_from_executable(bin/"stepscope", "completions", shells: [:bash, :zsh, :fish])
    (man1/"stepscope.1").write Utils.safe_popen_read(bin/"stepscope", "man")
  end

  test do
    (testpath/"call.jsonl").write "{\"prompt\": \"2 and 2?\", \"response\": \"4\"}\n"
    assert_match "no findings", shell_output("#{bin}/stepscope check call.jsonl")
  end
end
