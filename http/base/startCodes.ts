export interface StartingPerson {
  organization_id: string;
  email: string;
}

/** One-time codes that sign a person in without a password. Only the process that created a code knows it. */
export interface StartCodes {
  create(person: StartingPerson): string;
  /** Undefined for a code that is unknown, used or older than ten minutes. */
  redeem(code: string): StartingPerson | undefined;
}
