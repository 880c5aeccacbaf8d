/** An error in one field of a form. */
export class FieldError extends Error {
  /** The name of the field in its form. Among repeated fields, their position and name: `metadata[1].value`. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = "FieldError";
    this.field = field;
  }
}
