import { expect } from "vitest";
import { streamName } from "#events/ids.ts";
import { startOpenai } from "../doubles/openai.ts";
import type { Reply } from "../doubles/openai.ts";
import { chunksOf, clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/** Deadline of a turn, buffered; a streamed one has six times as long. */
const PATIENT = 10;
const HASTY = 1;

/** What a provider does to a model of some name: every call the same, or by the number of the call. */
export type Fault = Reply | ((call: number) => Reply);

/** What a reader of a stream has got. */
export function readStream(text: string) {
  const frames = chunksOf(text);
  return {
    text: frames.map(({ choices }) => choices?.[0]?.delta.content ?? "").join(""),
    error: frames.find((frame) => frame.error)?.error,
    done: text.endsWith("data: [DONE]\n\n"),
  };
}

/** A deployment whose provider fails as scripted: services in this process, and two http roles with different time limits. */
export async function setStage(faults: Record<string, Fault>) {
  const provider = await startOpenai();
  const calls = new Map<string, number>();
  provider.script(({ method, body }) => {
    if (method === "GET") return { status: 500 };
    const fault = faults[body.model.split("~")[0]];
    const call = (calls.get(body.model) ?? 0) + 1;
    calls.set(body.model, call);
    return typeof fault === "function" ? fault(call) : fault;
  });
  const env = {
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: provider.url,
    PRIVATE_PROVIDER_HOSTS: "127.0.0.1",
    // the longest answer and the turns before it
    HISTORY_KILOBYTES: "16000",
  };
  const deployment = await testDeployment();
  const worker = await startPlatform({ roles: ["services", "projections"], deployment, env });
  const [patient, hasty] = await Promise.all(
    [PATIENT, HASTY].map((seconds) =>
      startPlatform({ roles: ["http"], deployment, env: { ...env, TURN_SECONDS: String(seconds) } }),
    ),
  );
  const credentials = await patient!.organization();
  const clientAt = ({ url }: { url: string }) => clientOf({ chat: `${url}/api/openai/v1` }, credentials.api_key);
  const clients = { patient: clientAt(patient!), hasty: clientAt(hasty!) };
  const eventsOf = (thread: string) => worker.resources.log.read(streamName("thread", thread));

  /** A turn with a faulty model in the middle of a thread, and a good one after it. */
  async function inThread(fault: string, { stream = false, hurry = false } = {}) {
    const model = `${fault}~${stream ? "streamed" : "buffered"}`;
    const words = (text: string) => `${text} ${model}`;
    const good = (text: string, headers: Record<string, string> = {}) =>
      clients.patient("POST", "/chat/completions", say(words(text), { model: "openai/gpt-test" }), headers);
    const thread = (await good("before")).headers.get("x-thread-id")!;
    const client = hurry ? clients.hasty : clients.patient;
    const id = { "x-thread-id": thread };
    const name = fault.includes("/") ? fault : `openai/${model}`;
    const answer = await client("POST", "/chat/completions", say(words("during"), { model: name, stream }), id);
    const called = calls.get(model) ?? 0;
    const after = await good("after", id);
    expect(after).toMatchObject({ status: 200, body: { choices: [{ message: { content: words("after") } }] } });

    const asked = provider.requests.findLast(({ body }) => body?.messages?.at(-1).content === words("after"))!;
    const history: string[] = asked.body.messages.map(({ content }: { content: string }) => content);
    expect([history[0], history[1], history.at(-1)]).toEqual([words("before"), words("before"), words("after")]);
    const events = await eventsOf(thread);
    expect(events.map(({ type }) => type)).toEqual([
      "TurnStarted",
      "TurnCompleted",
      "TurnStarted",
      expect.stringMatching(/^Turn(Completed|Failed|Refused)$/),
      "TurnStarted",
      "TurnCompleted",
    ]);
    const [started, end] = events.slice(2, 4) as any[];
    expect(end.recorded_at.getTime() - Date.parse(started.data.ends_by)).toBeLessThan(10_000);
    const between = history.slice(2, -1).map((text) => text.replace(words("during"), "asked"));
    return { answer, called, between, end };
  }

  return {
    provider,
    credentials,
    clients,
    patient: patient!,
    worker,
    inThread,
    close: () => provider.close(),
  };
}
export type Stage = Awaited<ReturnType<typeof setStage>>;
