import { expect, test } from "vitest";
import { hashPassword, verifyPassword } from "./password.ts";

test("the hash of a password verifies that password and no other", async () => {
  const phc = await hashPassword("correct horse");
  expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await verifyPassword("correct horse", phc)).toBe(true);
  expect(await verifyPassword("Correct horse", phc)).toBe(false);
});

test("no password is right without an account", async () => {
  expect(await verifyPassword("anything", undefined)).toBe(false);
});

test("the hash of a password is different each time", async () => {
  expect(await hashPassword("x")).not.toBe(await hashPassword("x"));
});
