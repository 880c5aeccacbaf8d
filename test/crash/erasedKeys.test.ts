import { expect, test } from "vitest";
import { checkErasedKeys } from "../../dev/crash/check/erasedKeys.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { afterTest } from "../cleanUp.ts";
import { testDatabase } from "../harness.ts";

test("the checker finds the remaining data key of an erased item", async () => {
  const pool = openPool((await testDatabase("ready")).url, { max: 1, name: "keys" });
  afterTest(() => pool.end());
  const db = asDb(pool);
  await db.query(
    `insert into log.keys (thing, stream, wrapped)
     values ('file-a', 'file-a', 'x'), ('turn-b', 'thread-b', 'x'), ('file-c', 'file-c', 'x')`,
    [],
  );
  const event = (type: string, stream: string) => ({ type, stream }) as never;
  const events = [event("FileDeleted", "file-a"), event("ThreadDeleted", "thread-b"), event("FileUploaded", "file-c")];
  const found = await checkErasedKeys(db, events);
  expect(found.map(({ rule, about }) => `${rule} ${about}`).toSorted()).toEqual(["I12 file-a", "I12 thread-b"]);
});
