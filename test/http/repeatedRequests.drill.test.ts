import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { describe, expect, test } from "vitest";
import { openConnection } from "#infra/nats/connection.ts";
import { namesFor } from "#infra/nats/names.ts";
import { countEvents } from "../countEvents.ts";
import { clientOf, fileForm, say, startService } from "./service.ts";
import { ALONE } from "../sharedPlatform.ts";

const service = await startService(ALONE);
const call = clientOf(service, service.credentials.api_key);

const complete = (body: unknown, headers?: Record<string, string>) => call("POST", "/chat/completions", body, headers);
const turns = () => countEvents(service.db, "TurnStarted");
const retry = { "x-stainless-retry-count": "1" };

/** Commands of requests whose client left, as the http process recorded them. A record is removed when its request is made again or ends. */
const unanswered = async (): Promise<string[]> => {
  const rows = await service.db.query<{ command_id: string }>("select command_id from ops.unanswered");
  return rows.map((row) => row.command_id);
};

const send = (body: unknown, signal: AbortSignal, headers: Record<string, string> = {}) =>
  fetch(`${service.chat}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.credentials.api_key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  });

/** Sends a request and disconnects: once its turn has begun, or some time after the first bytes of the answer. */
async function leave(
  body: unknown,
  after: "turn began" | "first bytes",
  headers: Record<string, string> = {},
  staysMs = 0,
): Promise<void> {
  const gone = new AbortController();
  const before = { turns: await turns(), unanswered: await unanswered() };
  const sent = send(body, gone.signal, headers);
  if (after === "first bytes") await (await sent).body!.getReader().read();
  else await expect.poll(turns).toBeGreaterThan(before.turns);
  await sleep(staysMs);
  gone.abort();
  await sent.catch(() => {});
  // a stream that was left is stopped, and a retry of another request joins only what was recorded
  if (after === "turn began")
    await expect.poll(unanswered).toSatisfy((now: string[]) => now.some((id) => !before.unanswered.includes(id)));
}

describe("a request that is repeated under its Idempotency-Key", () => {
  test("has one effect and one answer", async () => {
    const key = { "idempotency-key": "k1" };
    const before = await turns();
    const first = await complete(say("Once"), key);
    const again = await complete(say("Once"), key);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("x-thread-id")).toBe(first.headers.get("x-thread-id"));
    expect(await turns()).toBe(before + 1);
  });

  test("has one effect and one answer when it is sent three times at once", async () => {
    const key = { "idempotency-key": "k2" };
    const before = await turns();
    const slow = say("/slow 0.05\n/say a b c", { model: "offline/scripted" });
    const answers = await Promise.all([1, 2, 3].map(() => complete(slow, key)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await turns()).toBe(before + 1);
  });

  test("gets the same stream again", async () => {
    const key = { "idempotency-key": "k3" };
    const body = say("one two three", { stream: true, stream_options: { include_usage: true } });
    const text = (answer: string) => [...answer.matchAll(/"content":"([^"]*)"/g)].map(([, words]) => words).join("");
    const first = await complete(body, key);
    const again = await complete(body, key);
    expect(text(again.text)).toBe("one two three");
    expect(again.text.split("\n\n").slice(-4)).toEqual(first.text.split("\n\n").slice(-4));
  });

  test("is refused with another body", async () => {
    const key = { "idempotency-key": "k4" };
    await complete(say("This"), key);
    const { status, body } = await complete(say("That"), key);
    expect([status, body.error.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("is a new request if another organization sends it", async () => {
    const key = { "idempotency-key": "k1" };
    const other = clientOf(service, (await service.organization("Other")).api_key);
    expect((await other("POST", "/chat/completions", say("Not once"), key)).status).toBe(200);
  });

  test("gets the first answer even if its attachment has been deleted since", async () => {
    const key = { "idempotency-key": "k6" };
    const { id } = (await call("POST", "/files", fileForm("words"))).body;
    const first = await complete(say("What is this?", { attachments: [id] }), key);
    await call("DELETE", `/files/${id}`);
    expect((await complete(say("What is this?", { attachments: [id] }), key)).body).toEqual(first.body);
    expect((await complete(say("What is this?", { attachments: [id] }))).body.error.code).toBe("file_not_found");
  });

  test("runs again after the provider refused it", async () => {
    const key = { "idempotency-key": "k5" };
    const before = await turns();
    for (let n = 0; n < 2; n++)
      expect((await complete(say("/fail 400", { model: "offline/scripted" }), key)).status).toBe(502);
    expect(await turns()).toBe(before + 2);
  });

  test.each([true, false])(
    "gets the failure as a status if its turn failed after the first words, stream: %s",
    async (stream) => {
      const key = { "idempotency-key": `cut-${stream}` };
      const cut = say("/say one two three four\n/cut", { model: "offline/scripted", stream: true });
      const body = { ...cut, stream };
      const before = await turns();
      const first = await complete(body, key);
      expect(first.status).toBe(stream ? 200 : 502);
      for (let n = 0; n < 2; n++) {
        const again = await complete(body, key);
        expect([again.status, again.body.error.type]).toEqual([502, "api_error"]);
        expect(again.headers.get("x-should-retry")).toBe("false");
        if (stream) expect(again.body.error.message).toContain("Idempotency-Key");
      }
      // an interrupted buffered turn sent nothing, so it was refused and may run again
      expect(await turns()).toBe(before + (stream ? 1 : 3));
    },
  );

  test("is refused when the key is malformed", async () => {
    const { status, body } = await complete(say("x"), { "idempotency-key": "two words" });
    expect([status, body.error.code]).toEqual([400, "invalid_idempotency_key"]);
  });

  test("stores an uploaded file once", async () => {
    const upload = (content: string) => call("POST", "/files", fileForm(content), { "idempotency-key": "f1" });
    const first = await upload("a");
    expect((await upload("a")).body).toEqual(first.body);
    const folder = join(service.blobs, service.credentials.organization_id, `file-${first.body.id}`);
    expect(await readdir(folder)).toHaveLength(1);
    expect((await upload("b")).body.error.code).toBe("idempotency_key_reused");
  });
});

describe("a retry without an Idempotency-Key", () => {
  test("resumes the turn of a disconnected client only once", async () => {
    const body = say("/slow 0.5\n/say left alone here", { model: "offline/scripted" });
    const before = await turns();
    await leave(body, "turn began");
    const joined = await complete(body, retry);
    expect(joined.body.choices[0].message.content).toBe("left alone here");
    expect(await turns()).toBe(before + 1);
    await complete(body, retry);
    expect(await turns()).toBe(before + 2);
  });

  test("resumes the turn even if its first connection is not closed yet", async () => {
    const body = say("/slow 0.5\n/say still open there", { model: "offline/scripted" });
    const before = await turns();
    const gone = new AbortController();
    const sent = send(body, gone.signal);
    await expect.poll(turns).toBe(before + 1);
    const joined = complete(body, retry);
    await sleep(100);
    gone.abort();
    await sent.catch(() => {});
    expect((await joined).body.choices[0].message.content).toBe("still open there");
    expect(await turns()).toBe(before + 1);
  });

  test("does not join another caller's equal request", async () => {
    const body = say("/slow 0.5\n/say a b c d e f g h i j", { model: "offline/scripted" });
    const before = await turns();
    const first = complete(body);
    await expect.poll(turns).toBe(before + 1);
    const second = complete(body, retry);
    await expect.poll(turns).toBe(before + 2);
    const [one, two] = await Promise.all([first, second]);
    expect(one.body.id).not.toBe(two.body.id);
    expect([one.status, two.status]).toEqual([200, 200]);
  });

  test("does not resume an answered turn, or a turn with another body or key", async () => {
    await complete(say("Answered"));
    const before = await turns();
    await complete(say("Answered"), retry);
    expect(await turns()).toBe(before + 1);
    const slow = say("/slow 0.5\n/say whose turn", { model: "offline/scripted" });
    await leave(slow, "turn began");
    const other = clientOf(service, (await service.organization("Third")).api_key);
    await other("POST", "/chat/completions", slow, retry);
    await complete({ ...slow, seed: 1 }, retry);
    expect(await turns()).toBe(before + 4);
  });

  test("resumes the turn at the next attempt if the read model lags at the first", async () => {
    const body = say("/slow 0.5\n/say later then", { model: "offline/scripted" });
    const before = await turns();
    const holding = await service.pool.connect();
    await holding.query("begin; lock table log.checkpoints in share mode");
    await leave(body, "turn began");
    expect((await complete(body, retry)).status).toBe(503);
    await holding.query("rollback");
    holding.release();
    expect((await complete(body, retry)).body.choices[0].message.content).toBe("later then");
    expect(await turns()).toBe(before + 1);
  });

  test("resumes the turn of an http process that died", async () => {
    const body = say("Orphaned");
    const { body: first } = await complete(body);
    await service.db.query(
      "insert into ops.workers (worker, role, beat_at) values ('dead', 'http', now() - interval '11 seconds')",
    );
    await service.db.query(
      "update log.commands set http = 'dead' where command_id = (select command_id from log.events where type = 'TurnStarted' and data like $1)",
      [`%${first.id.slice("chatcmpl-".length)}%`],
    );
    expect((await complete(body, retry)).body.id).toBe(first.id);
    expect((await complete(body, retry)).body.id).not.toBe(first.id);
  });
});

describe("a client that disconnects", () => {
  const slow = (words: string, stream: boolean) =>
    say(`/slow 0.5\n/say ${words}`, { model: "offline/scripted", stream });
  const statusOf = async () => {
    const [row] = await service.db.query<{ status: string }>(
      "select status from read.turns order by position desc limit 1",
    );
    return row!.status;
  };

  test("from a stream stops the turn, which keeps its output and is not resumed", async () => {
    const body = slow("a b c d e f g h i j k l m n o p q r s t u v w x y z", true);
    await leave(body, "first bytes");
    expect(await statusOf()).toBe("running");
    await expect.poll(statusOf).toBe("stopped");
    const before = await turns();
    await leave(body, "first bytes", retry);
    expect(await turns()).toBe(before + 1);
  });

  test("from a stream and repeats its Idempotency-Key later gets no partial answer", async () => {
    const key = { "idempotency-key": "stopped" };
    const body = slow("a b c d e f g h i j k l m n o p q r s t u v w x y z", true);
    await leave(body, "first bytes", key);
    await expect.poll(statusOf).toBe("stopped");
    const before = await turns();
    const again = await complete(body, key);
    expect([again.status, again.body.error.message]).toEqual([502, expect.stringContaining("was stopped")]);
    expect(await turns()).toBe(before);
  });

  test("at any moment does not affect other requests", async () => {
    const headers = { authorization: `Bearer ${service.credentials.api_key}`, "content-type": "application/json" };
    const leaving = Array.from({ length: 40 }, async (_, n) => {
      const body = JSON.stringify(
        say("/slow 0.02\n/say a b c d e f", { model: "offline/scripted", stream: n % 2 === 0 }),
      );
      const signal = AbortSignal.timeout(1 + n * 8);
      await fetch(`${service.chat}/chat/completions`, { method: "POST", headers, body, signal })
        .then((response) => response.text())
        .catch(() => {});
    });
    const staying = Array.from({ length: 5 }, () => complete(say("I stay")));
    expect((await Promise.all(staying)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await Promise.all(leaving);
    const running = async () => (await service.db.query("select from read.turns where status = 'running'")).length;
    await expect.poll(running).toBe(0);
  });

  test("from a buffered answer leaves the turn running until it completes", async () => {
    await leave(slow("a b c d e f g h", false), "turn began");
    await expect.poll(statusOf).toBe("completed");
  });

  test("after it has reconnected leaves the stream to its second connection", async () => {
    const key = { "idempotency-key": "twice" };
    const words = "a b c d e f g h i j k";
    const first = leave(slow(words, true), "first bytes", key, 1_000);
    await sleep(800);
    const { text } = await complete(slow(words, true), key);
    await first;
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join("")).toBe(words);
    await expect.poll(statusOf).toBe("completed");
  });

  test("and reconnects to a stream receives all of it", async () => {
    const key = { "idempotency-key": "back" };
    const words = "a b c d e f g h i j k";
    await leave(slow(words, true), "first bytes", key);
    const { text } = await complete(slow(words, true), key);
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join("")).toBe(words);
    await expect.poll(statusOf).toBe("completed");
  });

  test("and reconnects receives the whole stream, even if the bus has lost the retained frames", async () => {
    const key = { "idempotency-key": "lost" };
    const words = "a b c d e f g h i j k";
    await leave(slow(words, true), "first bytes", key);
    const { nc } = await openConnection({
      url: service.opened.addresses.nats_url,
      name: "test",
      log: service.opened.logger,
    });
    const jsm = await jetstreamManager(nc);
    await jsm.streams.delete(namesFor(service.opened.settings.BUS_PREFIX).streams.frames);
    await nc.close();
    const { status, text } = await complete(slow(words, true), key);
    expect(status).toBe(200);
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join("")).toBe(words);
    await expect.poll(statusOf).toBe("completed");
  });
});
