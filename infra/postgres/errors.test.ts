import pg from "pg";
import { expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { asUnavailable, isStoreFault } from "./errors.ts";

const refusal = (code: string, message: string) => Object.assign(new pg.DatabaseError(message, 0, "error"), { code });

test.each([
  [
    refusal("42501", 'could not extend file "base/5/16": Read-only file system'),
    "The disk of the database is read-only.",
  ],
  [refusal("53100", "could not extend file: No space left on device"), "The disk of the database is full."],
  [new Error("connect ECONNREFUSED"), "The database cannot be reached."],
])("%s is a transient fault of the store", (error, message) => {
  expect(isStoreFault(error)).toBe(true);
  expect(asUnavailable(error)).toMatchObject({ name: Unavailable.name, message });
});

test.each([refusal("42501", "permission denied for table events"), refusal("22003", "integer out of range")])(
  "%s is not a transient fault of the store",
  (error) => {
    expect(isStoreFault(error)).toBe(false);
    expect(asUnavailable(error)).toBe(error);
  },
);
