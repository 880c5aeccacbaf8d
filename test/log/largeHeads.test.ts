import { expect, test } from "vitest";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { aStream, change, openTestLog } from "./log.ts";

/* Heads with large states, which a process reads and parses once per change (infra/postgres/heads.ts). */

const LARGE = "x".repeat(100_000);

/** The log as another process has it. */
function openInOtherProcess(url: string) {
  const pool = openPool(url, { max: 1, name: "other" });
  return { log: openLog(pool, openKeyring(Buffer.alloc(32, 7))), close: () => pool.end() };
}

test("a large state is that of the newest commit, also if another process made it", async () => {
  const testLog = await openTestLog();
  const other = openInOtherProcess(testLog.url);
  const [large, small] = [aStream(), aStream()];
  const append = async (stream: string, version: number, members: string[]): Promise<void> => {
    const request = change(stream, { version });
    const heads = request.heads.map((head) => ({
      ...head,
      state: { members, padding: stream === large ? LARGE : "" },
    }));
    expect((await other.log.append({ ...request, heads })).kind).toBe("committed");
  };
  const read = async (...streams: string[]) => {
    const heads = await testLog.log.heads(streams);
    return streams.map((stream) => {
      const { version, state } = heads.get(stream)!;
      return [version, (state as { members: string[] }).members];
    });
  };

  await append(large, 1, ["ann", "bob"]);
  await append(small, 1, ["cid"]);
  for (let n = 0; n < 2; n++) expect(await read(large)).toEqual([[1, ["ann", "bob"]]]);
  const first = (await testLog.log.heads([large])).get(large)!.state;
  expect((await testLog.log.heads([large])).get(large)!.state).toBe(first);
  expect(await read(large, small)).toEqual([
    [1, ["ann", "bob"]],
    [1, ["cid"]],
  ]);

  await append(large, 2, ["ann"]);
  await append(small, 2, []);
  expect(await read(small, large)).toEqual([
    [2, []],
    [2, ["ann"]],
  ]);
  await testLog.pool.query("update log.streams set state = $2, state_version = 2 where stream = $1", [
    large,
    JSON.stringify({ members: ["as a newer release writes it"], padding: LARGE }),
  ]);
  expect(await read(large)).toEqual([[2, ["as a newer release writes it"]]]);
  await Promise.all([testLog.close(), other.close()]);
});
