import { expect, test } from "vitest";
import { run as runDecider } from "../deciders/run.ts";
import { createFairSemaphore, type FairSemaphore } from "../sharing/fairSemaphore.ts";
import { ANSWER_BYTES, deliverMessage, findPosted, type DeliveryDeps } from "./deliverMessage.ts";
import type { MessageWait } from "./findWaits.ts";

const MAX_COPIED_BYTES = 64 * 1024 * 1024;

interface DeliveryCommand {
  type: string;
  stream: string;
  data: { run_id: string; key: string; reached: number; refused_for?: number };
  joined?: DeliveryCommand[];
}

/** The state of a run's wait according to the log. */
type WaitInLog = "open" | "ended" | "expired";

/** The head of a run with that wait, as far as delivery reads it. */
function headWith(stream: string, key: string, wait: WaitInLog) {
  const expires_at = wait === "expired" ? new Date(Date.now() - 1).toISOString() : null;
  const waits = wait === "ended" ? {} : { [key]: { awaited_run_id: null, expires_at, isRegistered: true } };
  return { stream, state: { status: "running", waits }, state_version: runDecider.version };
}

/**
 * Delivers a message with this many bytes of text to all waits. `oneOf`: the message is for one run, and the log has these waits.
 * `before`: runs answered by another process, which the read model therefore leaves out. `joinedResult`: the result of an answer
 * that another command is joined to. The last parameter: the share of the answers, what recording one waits for, and the runs whose
 * waits this process has just committed. The first scan after the message ends before the newest events, as if another process had
 * appended.
 */
async function deliver(
  waits: MessageWait[],
  bytes: number,
  fromLog: MessageWait[] = [],
  before: string[] = [],
  oneOf?: WaitInLog[],
  joinedResult?: object,
  {
    answers: share = createFairSemaphore(ANSWER_BYTES),
    record = async () => {},
    recent = [],
  }: { answers?: FairSemaphore; record?(run: string): Promise<void>; recent?: string[] } = {},
) {
  const data = JSON.stringify({ text: "x".repeat(bytes) });
  const stored: string[] = [];
  const answered: string[] = [];
  const waitsIn = (run_id: string) => fromLog.find((wait) => wait.run_id === run_id)!;
  const startOf = (run_id: string) => {
    const { key, match } = waitsIn(run_id);
    return { data: { run_id, key, project_id: null }, personal: { name: "order", match } };
  };
  const started = fromLog.map(({ run_id }, n) => ({
    position: 10 + n,
    organization_id: run_id === "foreign" ? "p" : "o",
    stream: run_id,
    version: 1,
  }));
  const answers = before.map((stream, n) => ({ position: 21 + n, stream, data: { message_id: "m" } }));
  let reached: number | undefined;
  let refused_for: number | undefined;
  let looks = 0;
  const commits: string[] = [];
  const scan = async (after: number, [type]: string[]) => {
    const end = looks++ === 0 || type !== "WaitAnswered" ? 20 + before.length : 20 + answers.length;
    const events = (type === "WaitAnswered" ? answers : started).filter(
      ({ position }) => position > after && position <= end,
    );
    return { events, seen: type === "WaitAnswered" ? end : 20 };
  };
  const deps = {
    worker: "w",
    answers: share,
    findRecentWait: (run_id: string) => (recent.includes(run_id) ? startOf(run_id) : undefined),
    log: {
      read: async () => [
        {
          position: 20,
          data: { message_id: "m", project_id: null, ...(oneOf && { to: "one" }) },
          personal: { name: "order", data: { json: data } },
        },
      ],
      scan,
      heads: async () =>
        new Map(waits.map(({ run_id, key }, n) => [`run-${run_id}`, headWith(`run-${run_id}`, key, oneOf![n]!)])),
      event: async (run_id: string) => {
        if (recent.includes(run_id)) throw new Error("the start of this wait need not be read");
        return startOf(run_id);
      },
    },
    vault: {
      findKey: async () => "key",
      put: async ({ thing }: { thing: string }) => {
        stored.push(thing);
        return `blob-${stored.length}`;
      },
    },
    handle: async ({ type, stream, data: fields, joined = [] }: DeliveryCommand) => {
      if (joined.length > 0 && joinedResult) return joinedResult;
      commits.push([type, ...joined.map((one) => one.type)].join(" and "));
      if (type === "CloseMessage") ({ reached, refused_for } = fields);
      if (type !== "DeliverMessage") return { position: 0, repeated: false };
      await record(fields.run_id);
      for (const close of joined) ({ reached, refused_for } = close.data);
      answered.push(`${fields.run_id}/${fields.key}`);
      const position = 21 + answers.length;
      answers.push(
        { position, stream, data: { message_id: "m" } },
        { position: position + 1, stream: "x", data: { message_id: "n" } },
      );
      return { position, repeated: false };
    },
    findMessageWaits: async (_: string, { after, limit }: { after: number; limit: number }) => {
      const found = waits.filter(({ position }) => position > after);
      // as few as long conditions leave room for
      const page = found.slice(0, Math.min(limit, 700));
      return { waits: page, more: page.length < found.length, projected: before.length > 0 ? 20 + before.length : 9 };
    },
  } as unknown as DeliveryDeps;
  await deliverMessage(deps, { stream: "message:m", organization_id: "o" });
  return { stored, answered, reached, refused_for, commits };
}

const waitsOf = (runs: number, each: number): MessageWait[] =>
  Array.from({ length: runs * each }, (_, n) => ({
    run_id: `run-${n % runs}`,
    key: String(n),
    match: {},
    position: 1 + n,
  }));
const names = (waits: MessageWait[]) => waits.map(({ run_id, key }) => `${run_id}/${key}`);

test("a long answer is stored once for each run, and all waits of these runs are answered", async () => {
  const waits = waitsOf(3, 400);
  const { stored, answered } = await deliver(waits, 200 * 1024);
  expect(stored).toHaveLength(3);
  expect(new Set(answered)).toEqual(new Set(names(waits)));
});

test("copies of a long answer take 64 MiB at most, and the runs that have waited longest get them", async () => {
  const bytes = 200 * 1024;
  const waits = waitsOf(400, 2);
  const { stored, answered } = await deliver(waits, bytes);
  const most = Math.ceil(MAX_COPIED_BYTES / bytes);
  expect(stored.length).toBeLessThanOrEqual(most);
  expect(stored.length).toBeGreaterThan(most - 5);
  const runs = new Set(Array.from({ length: stored.length }, (_, n) => `run-${n}`));
  expect(new Set(answered)).toEqual(new Set(names(waits.filter(({ run_id }) => runs.has(run_id)))));
});

test("each wait's event has its own copy of a short answer, and these copies take 64 MiB at most, too", async () => {
  const bytes = 60 * 1024;
  const waits = waitsOf(3, 400);
  const { stored, answered } = await deliver(waits, bytes);
  const most = Math.ceil(MAX_COPIED_BYTES / bytes);
  expect(stored).toEqual([]);
  expect(answered.length).toBeLessThanOrEqual(most);
  expect(answered.length).toBeGreaterThan(most - 5);
  expect(new Set(answered)).toEqual(new Set(names(waits.slice(0, answered.length))));
});

test("waits that the read model does not have yet are read from the log", async () => {
  const { answered } = await deliver([{ run_id: "old", key: "a", match: {}, position: 1 }], 1, [
    { run_id: "new", key: "b", match: { text: "x" }, position: 10 },
    { run_id: "other", key: "c", match: { text: "y" }, position: 11 },
    { run_id: "foreign", key: "d", match: { text: "x" }, position: 12 },
  ]);
  expect(answered).toEqual(["old/a", "new/b"]);
});

test("a wait that this process has just recorded is not read from the log", async () => {
  const fromLog = [
    { run_id: "new", key: "b", match: { text: "x" }, position: 10 },
    { run_id: "other", key: "c", match: { text: "y" }, position: 11 },
  ];
  const { answered } = await deliver([], 1, fromLog, [], undefined, undefined, { recent: ["new", "other"] });
  expect(answered).toEqual(["new/b"]);
});

test("a message's count of reached runs includes those that another process answered, and those that the first scan misses", async () => {
  const waits = waitsOf(2, 2);
  expect(await deliver(waits, 1)).toMatchObject({ reached: 2 });
  expect(await deliver(waits, 1, [], ["run-elsewhere"])).toMatchObject({ reached: 3 });
  expect(await deliver([], 1, [], ["run-elsewhere"])).toMatchObject({ answered: [], reached: 1 });
  expect(await deliver([], 1)).toMatchObject({ answered: [], reached: 0 });
});

test("the answer of the only wait and the end of the delivery are one commit", async () => {
  const [only] = waitsOf(1, 1);
  const one = { answered: names([only!]), reached: 1, commits: ["DeliverMessage and CloseMessage"] };
  expect(await deliver([only!], 1)).toMatchObject(one);
  // another process has answered the others
  expect(await deliver([only!], 1, [], ["run-elsewhere"])).toMatchObject({ ...one, reached: 2 });
  expect(await deliver([only!], 1, [], [`run-${only!.run_id}`])).toMatchObject(one);
});

test.each([
  ["has ended", { position: 0, repeated: false, rejection: { code: "joined_command_refused" } }],
  ["was answered by another process", { position: 21, repeated: true }],
])("a delivery to the only wait ends in a commit of its own if the wait %s", async (_, joinedResult) => {
  const { commits } = await deliver(waitsOf(1, 1), 1, [], [], undefined, joinedResult);
  expect(commits).toEqual(["DeliverMessage", "CloseMessage"]);
});

test("a message is known from the commit that posted it, at its position", () => {
  const posted = { type: "MessagePosted", data: { message_id: "m" } };
  expect(findPosted({ events: [posted], position: 7 })).toEqual({ ...posted, position: 7 });
  expect(
    findPosted({ events: [{ type: "MessageDelivered", data: { message_id: "m" } }], position: 8 }),
  ).toBeUndefined();
});

test("a run is reached however many others wait for another message of the same name", async () => {
  const others = waitsOf(25_000, 1).map((wait) => ({ ...wait, match: { text: "y" } }));
  const last = { run_id: "last", key: "z", match: { text: "x" }, position: 30_000 };
  expect(await deliver([...others, last], 1)).toMatchObject({ answered: ["last/z"], reached: 1 });
});

test("a message for one run reaches the only run that still waits, whichever waits have ended or expired", async () => {
  const [a, b, c] = waitsOf(3, 1);
  const sent = (...oneOf: WaitInLog[]) => deliver([a!, b!, c!], 1, [], [], oneOf);
  const all = { answered: names([a!, b!, c!]), refused_for: undefined };
  expect(await sent("ended", "open", "expired")).toMatchObject(all);
  expect(await sent("open", "ended", "open")).toMatchObject({ answered: [], reached: 0, refused_for: 2 });
});

test.each([
  ["20 short answers", 1, 20],
  ["five of 250 KB", 250_000, 5],
])(
  "an organization records %s at the same time, however many messages it sends, and all waits are answered",
  async (_, bytes, most) => {
    const answers = createFairSemaphore(ANSWER_BYTES);
    let [recording, peak] = [0, 0];
    const record = async () => {
      peak = Math.max(peak, ++recording);
      await new Promise(setImmediate);
      recording -= 1;
    };
    const waits = waitsOf(30, 2);
    const sent = await Promise.all(
      [1, 2, 3].map(() => deliver(waits, bytes, [], [], undefined, undefined, { answers, record })),
    );
    expect(sent.map(({ answered }) => answered.length)).toEqual([60, 60, 60]);
    expect(peak).toBeGreaterThan(most / 2);
    expect(peak).toBeLessThanOrEqual(most);
  },
);
