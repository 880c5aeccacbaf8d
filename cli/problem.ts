/** What is wrong, and what to do next; both are whole thoughts without a full stop. */
export class Problem extends Error {
  readonly what: string;
  readonly next: string;
  constructor(what: string, next: string, options: { cause?: unknown } = {}) {
    super(`${what}: ${next}.`, options);
    this.name = "Problem";
    this.what = what;
    this.next = next;
  }
}
