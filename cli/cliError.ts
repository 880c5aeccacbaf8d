/** An error for a person: what is wrong and what to do next, both without a full stop. */
export class CliError extends Error {
  readonly what: string;
  readonly next: string;
  constructor(what: string, next: string, options: { cause?: unknown } = {}) {
    super(`${what}: ${next}.`, options);
    this.name = "CliError";
    this.what = what;
    this.next = next;
  }
}
