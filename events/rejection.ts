/** What a rejection tells its caller; `code` is the spec's own code, without an HTTP number. */
export interface RejectionDetails {
  code: string;
  message: string;
  param?: string;
  /** The stream that holds what had to be unique. */
  held_by?: string;
}

/**
 * The answer "no" to a command: only the caller cares, so it is no event.
 * A `retryable` rejection (a busy thread) is not recorded as the command's outcome: the same command may be sent again.
 */
export class Rejection extends Error {
  readonly code: string;
  readonly param: string | undefined;
  readonly retryable: boolean;
  readonly held_by: string | undefined;

  constructor(code: string, message: string, options: { param?: string; retryable?: boolean; held_by?: string } = {}) {
    super(message);
    this.name = "Rejection";
    this.code = code;
    this.param = options.param;
    this.retryable = options.retryable ?? false;
    this.held_by = options.held_by;
  }

  details(): RejectionDetails {
    return {
      code: this.code,
      message: this.message,
      ...(this.param === undefined ? {} : { param: this.param }),
      ...(this.held_by === undefined ? {} : { held_by: this.held_by }),
    };
  }
}
