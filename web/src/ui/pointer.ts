/** locate returns the range of a JSON pointer's value in a text, or the whole text if there is no such value. */
export function locate(text: string, pointer: string): { from: number; to: number } {
  const steps = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  try {
    return new Scanner(text).find(steps);
  } catch {
    return { from: 0, to: text.length };
  }
}

// Scanner walks through a JSON text and knows its position, which parsers do not tell.
class Scanner {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  find(steps: string[]): { from: number; to: number } {
    this.space();
    const [step, ...rest] = steps;
    if (step === undefined) {
      const from = this.at;
      this.skip();
      return { from, to: this.at };
    }
    const opened = this.text[this.at];
    if (opened !== "{" && opened !== "[") throw new Error("not there");
    this.at++;
    for (let index = 0; ; index++) {
      this.space();
      if (this.text[this.at] === "}" || this.text[this.at] === "]" || this.at >= this.text.length) throw new Error("not there");
      const name = opened === "{" ? this.name() : String(index);
      if (name === step) return this.find(rest);
      this.skip();
      this.space();
      if (this.text[this.at] === ",") this.at++;
    }
  }

  private name(): string {
    const from = this.at;
    this.skip();
    const name = JSON.parse(this.text.slice(from, this.at)) as string;
    this.space();
    this.at++; // the colon
    this.space();
    return name;
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at++;
  }

  // skip moves past one value.
  private skip(): void {
    let depth = 0;
    do {
      this.space();
      const character = this.text[this.at];
      if (character === undefined) throw new Error("not there");
      if (character === '"') this.string();
      else if ("{[".includes(character)) {
        depth++;
        this.at++;
      } else if ("}]".includes(character)) {
        depth--;
        this.at++;
      } else if (",:".includes(character)) this.at++;
      else while (/[^\s,:{}[\]"]/.test(this.text[this.at] ?? "")) this.at++;
    } while (depth > 0);
  }

  private string(): void {
    for (this.at++; this.text[this.at] !== '"'; this.at++) {
      if (this.text[this.at] === undefined) throw new Error("not there");
      if (this.text[this.at] === "\\") this.at++;
    }
    this.at++;
  }
}
