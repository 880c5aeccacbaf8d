import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { fileForm, signIn } from "../http/service.ts";
import { leavesWell, say, startTarget, UNKNOWN, type Target, type TargetAnswer } from "./target.ts";

/* What belongs to another organization, key or user is answered like what does not exist, to the byte. */

let target: Target;
let things: { thread: string; file: string; hers: { thread: string; file: string } };
/** Credentials that may not see these things, by their description. */
const strangers: Record<string, string> = {};
let session: { authorization: string };

const upload = async (user?: string) => {
  const form = fileForm("secret words", "secret.txt", { fields: user === undefined ? {} : { user } });
  return (await target.send("POST", "/files", form)).body.id as string;
};
const converse = async (user?: string) =>
  (await target.complete(say("secret words", { user }))).headers.get("x-thread-id")!;

beforeAll(async () => {
  target = await startTarget();
  const { platform, credentials, send } = target;
  things = {
    thread: await converse(),
    file: await upload(),
    hers: { thread: await converse("ada"), file: await upload("ada") },
  };
  session = { authorization: `Bearer ${(await signIn(platform.url, credentials.admin)).token}` };
  const second = await send("POST", `${platform.url}/api/keys`, { name: "Second" }, session);
  const other = await platform.organization("Other");
  strangers["another organization"] = other.api_key;
  strangers["another organization's person"] = (await signIn(platform.url, other.admin)).token;
  strangers["another key of the organization"] = second.body.key;
  strangers["a person of the organization"] = session.authorization.slice("Bearer ".length);
});
leavesWell(() => target);

/** Everything of an answer but when it was given, and its number. */
const bytesOf = ({ status, headers, text }: TargetAnswer) => {
  const rest = [...headers].filter(([name]) => !["date", "x-request-id"].includes(name));
  return { status, headers: rest, text };
};

type Attempt = (
  thing: { thread: string; file: string },
  query: string,
  user: string | undefined,
  headers: Record<string, string>,
) => Promise<TargetAnswer>;
const attempts: [string, Attempt][] = [
  [
    "read a file",
    ({ file }, query, _user, headers) => target.send("GET", `/files/${file}${query}`, undefined, headers),
  ],
  [
    "read the bytes of a file",
    ({ file }, query, _user, headers) => target.send("GET", `/files/${file}/content${query}`, undefined, headers),
  ],
  [
    "delete a file",
    ({ file }, query, _user, headers) => target.send("DELETE", `/files/${file}${query}`, undefined, headers),
  ],
  [
    "attach a file",
    ({ file }, _query, user, headers) => target.complete(say("x", { attachments: [file], user }), headers),
  ],
  [
    "attach a file as a part",
    ({ file }, _query, user, headers) =>
      target.complete(say([{ type: "file", file: { file_id: file } }], { user }), headers),
  ],
  [
    "attach a file, streamed",
    ({ file }, _query, user, headers) =>
      target.complete(say("x", { attachments: [file], user, stream: true }), headers),
  ],
  [
    "continue a thread",
    ({ thread }, _query, user, headers) => target.complete(say("x", { user }), { ...headers, "x-thread-id": thread }),
  ],
  [
    "continue a thread, streamed",
    ({ thread }, _query, user, headers) =>
      target.complete(say("x", { user, stream: true }), { ...headers, "x-thread-id": thread }),
  ],
  [
    "read a thread",
    ({ thread }, query, _user, headers) =>
      target.send("GET", `/threads/${thread}/messages${query}`, undefined, headers),
  ],
  [
    "delete a thread",
    ({ thread }, query, _user, headers) => target.send("DELETE", `/threads/${thread}${query}`, undefined, headers),
  ],
];
const nothing = { thread: UNKNOWN, file: UNKNOWN };

const WRONG_USERS: [wrong: string, whose: "things" | "hers", query: string, user: string | undefined][] = [
  ["another user", "hers", "?user=bob", "bob"],
  ["no user", "hers", "", undefined],
  ["an empty user", "hers", "?user=", ""],
  ["the user in another case", "hers", "?user=Ada", "Ada"],
  ["the user and a space", "hers", "?user=ada%20", "ada "],
  ["the user and a NUL", "hers", "?user=ada%00", "ada\u0000"],
  ["a user where the owner sent none", "things", "?user=ada", "ada"],
  ["an empty user where the owner sent none", "things", "?user=", ""],
  ["the word null where the owner sent none", "things", "?user=null", "null"],
];

describe.each(attempts)("nobody can %s", (_name, attempt) => {
  test("of another organization or key", async () => {
    for (const [who, token] of Object.entries(strangers)) {
      const headers = { authorization: `Bearer ${token}` };
      for (const [mine, user] of [
        [things, undefined],
        [things.hers, "ada"],
      ] as const) {
        const query = user === undefined ? "" : `?user=${user}`;
        const theirs = bytesOf(await attempt(mine, query, user, headers));
        expect(theirs.status, who).toBe(404);
        expect(theirs, who).toEqual(bytesOf(await attempt(nothing, query, user, headers)));
        expect(theirs.text).not.toContain("secret");
      }
    }
  });

  test("with the wrong user value", async () => {
    for (const [wrong, whose, query, user] of WRONG_USERS) {
      const mine = whose === "hers" ? things.hers : things;
      const answer = bytesOf(await attempt(mine, query, user, {}));
      expect(answer.status, wrong).toBe(404);
      expect(answer, wrong).toEqual(bytesOf(await attempt(nothing, query, user, {})));
    }
  });
});

test("the attacks of another organization change nothing", async () => {
  for (const [{ thread, file }, query] of [
    [things, ""],
    [things.hers, "?user=ada"],
  ] as const) {
    expect((await target.send("GET", `/files/${file}/content${query}`)).text).toBe("secret words");
    const { data } = (await target.send("GET", `/threads/${thread}/messages${query}`)).body;
    expect(data.map(({ content }: { content: string }) => content)).toEqual(["secret words", "secret words"]);
  }
});

test("lists of files contain only the caller's own", async () => {
  for (const token of Object.values(strangers))
    expect((await target.send("GET", "/files", undefined, { authorization: `Bearer ${token}` })).body.data).toEqual([]);
  const ids = async (query: string) =>
    (await target.send("GET", `/files${query}`)).body.data.map(({ id }: { id: string }) => id);
  expect([await ids(""), await ids("?user=ada"), await ids("?user=bob")]).toEqual([
    [things.file],
    [things.hers.file],
    [],
  ]);
});

test("the same idempotency key of another key or organization identifies another request", async () => {
  const headers = { "idempotency-key": randomUUID() };
  const mine = await target.complete(say("mine"), headers);
  const retry = { ...headers, "x-stainless-retry-count": "1" };
  for (const [who, token] of Object.entries(strangers)) {
    const theirs = await target.complete(say("mine"), { ...retry, authorization: `Bearer ${token}` });
    expect([theirs.status, theirs.body.id === mine.body.id], who).toEqual([200, false]);
    expect(theirs.headers.get("x-thread-id")).not.toBe(mine.headers.get("x-thread-id"));
  }
  const hers = await target.complete(say("mine", { user: "ada" }), headers);
  expect([hers.status, hers.body.id === mine.body.id]).toEqual([200, false]);
});

test("an id in capitals identifies the same item, and an almost valid UUID identifies nothing", async () => {
  expect((await target.send("GET", `/files/${things.file.toUpperCase()}`)).status).toBe(200);
  expect((await target.complete(say("x"), { "x-thread-id": (await converse()).toUpperCase() })).status).toBe(200);
  for (const id of [`{${things.file}}`, things.file.replaceAll("-", ""), `${things.file}0`, `urn:uuid:${things.file}`])
    expect((await target.send("GET", `/files/${id}`)).body.error.code).toBe("file_not_found");
});

test("the models of an organization's provider are visible only to itself", async () => {
  const { platform, send } = target;
  const provider = { api_key: "sk-ours", base_url: "http://127.0.0.1:1/v1", models: ["m"] };
  await send("PUT", `${platform.url}/api/providers/ours`, provider, session);
  const stranger = { authorization: `Bearer ${strangers["another organization's person"]}` };
  const models = (await send("GET", "/models", undefined, stranger)).body.data.map(({ id }: { id: string }) => id);
  expect(models).not.toContain("ours/m");
  expect((await send("GET", "/models/ours/m")).body.id).toBe("ours/m");
});
