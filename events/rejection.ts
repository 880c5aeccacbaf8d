import type { ErrorCode } from "./errorCodes.ts";

/** The details that the caller of a rejected command receives; `code` is the spec's code, without an HTTP status. */
export interface RejectionDetails {
  code: string;
  message: string;
  param?: string;
  /** The stream that holds the unique name the command claimed. */
  held_by?: string;
}

/**
 * A refused command. Only its caller cares, so it is not an event.
 * A `retryable` rejection (a busy thread) is not recorded as the outcome of the command, so the command can be sent again.
 */
export class Rejection extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryable: boolean;
  readonly held_by: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { param?: string; retryable?: boolean; held_by?: string } = {},
  ) {
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
