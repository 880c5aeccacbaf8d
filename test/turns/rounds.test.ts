import { expect, test } from "vitest";
import type { Command } from "#events/envelope.ts";
import { FinishTool, NO_USAGE, RequestRound } from "#events/thread.ts";
import { createHandler, type Handle, type CommittedCommand } from "#services/handle.ts";
import { turnCommand } from "#services/turns/steps.ts";
import { turnFromEvent, type TurnToRun } from "#services/turns/turnToRun.ts";
import { chunksOf, clientOf } from "../http/service.ts";
import { startPlatform, testDeployment, type Deployment } from "../platform.ts";

/* A turn with tools whose worker dies between two steps, on a whole deployment. */

const TEXT = "Let me look. ";
const call = (id: string) => ({ id, name: "search_documents", arguments: '{"query":"lighthouse"}' });
const ROUND = { round: 0, usage: NO_USAGE, text: TEXT, reasoning: "", citations: [], calls: [call("a"), call("b")] };
const FIRST = { round: 0, call: 0, name: "search_documents", status: "completed", duration_ms: 1, sources: [] };

/** A worker that handles every command and runs `work` in place of each turn, until it dies. */
async function doomedWorker(deployment: Deployment, work: (handle: Handle, turn: TurnToRun) => Promise<void>) {
  const { resources: opened, stop } = await startPlatform({ roles: [], deployment });
  let worked = () => {};
  const done = new Promise<void>((resolve) => (worked = resolve));
  const afterCommit = ({ command, events, version }: CommittedCommand) => {
    const started = events.find(({ type }) => type === "TurnStarted");
    if (!started) return;
    const { stream, organization_id, request_id, principal } = command;
    const { data, personal } = started;
    const meta = { request_id, principal };
    const turn = turnFromEvent({ stream, organization_id, version, data, personal, meta }, 1);
    opened.bus.frames.publish(organization_id, turn.turn_id, { attempt: 1, n: 0, type: "text", text: TEXT });
    void work(handle, turn).then(worked);
  };
  const { log, bus } = opened;
  const handle: Handle = createHandler({ log, hints: bus.hints, worker: () => "dead-worker", afterCommit });
  const commands = await bus.source().consume((command: Command) => handle(command));
  return {
    async dies() {
      await done;
      await commands.stop();
      await stop();
    },
  };
}

test("a reader receives each word once if another worker takes over a turn with tools", async () => {
  const deployment = await testDeployment();
  const front = await startPlatform({ roles: ["http", "projections"], deployment });
  const doomed = await doomedWorker(deployment, async (handle, turn) => {
    await handle(turnCommand(turn, RequestRound, ROUND));
    await handle(turnCommand(turn, FinishTool, { ...FIRST, output: { text: '{"results":[]}' } }));
  });
  const { api_key } = await front.organization();
  const send = clientOf({ chat: front.url }, api_key);
  await send("POST", "/api/v1/knowledge/collections", { name: "Notes" });
  const answer = send("POST", "/api/openai/v1/chat/completions", {
    model: "offline/scripted",
    messages: [{ role: "user", content: "/tool search_documents {}\n/say Found it." }],
    tools: [{ type: "function", function: { name: "search_documents" } }],
    stream: true,
  });
  await doomed.dies();
  const { resources: opened } = await startPlatform({ roles: ["services"], deployment });
  const { text, headers } = await answer;
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  const words = chunksOf(text).map(({ choices }) => choices[0].delta.content ?? "");
  expect(words.join("")).toBe("Let me look. Found it.");
  expect(words.filter((word) => word === TEXT)).toHaveLength(1);
  // the second worker streams word by word
  expect(words).toContain("Found ");
  const events = await opened.log.read(`thread-${headers.get("x-thread-id")}`);
  expect(events.map(({ type }) => type)).toEqual([
    "TurnStarted",
    "RoundRequested",
    "ToolFinished",
    "TurnTakenOver",
    "ToolFinished",
    "TurnCompleted",
  ]);
  expect(events.slice(2).map(({ data }) => (data as { call?: number }).call)).toEqual([0, undefined, 1, undefined]);
});

test("the recorded steps of a turn are sealed, and are deleted with the thread", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment });
  const { api_key } = await platform.organization();
  const send = clientOf({ chat: platform.url }, api_key);
  await send("POST", "/api/v1/knowledge/collections", { name: "Notes" });
  const { headers } = await send("POST", "/api/openai/v1/chat/completions", {
    model: "offline/scripted",
    messages: [{ role: "user", content: '/tool search_documents {"query":"canary"}' }],
    tools: [{ type: "function", function: { name: "search_documents" } }],
  });
  const thread = headers.get("x-thread-id")!;
  const rows = await platform.resources.db.query<{ type: string; data: string }>(
    "select type, data from log.events where stream = $1 order by version",
    [`thread-${thread}`],
  );
  expect(rows.map(({ type }) => type)).toEqual(["TurnStarted", "RoundRequested", "ToolFinished", "TurnCompleted"]);
  expect(JSON.stringify(rows)).not.toContain("canary");
  await send("DELETE", `/api/openai/v1/threads/${thread}`);
  for (const { type, personal } of await platform.resources.log.read(`thread-${thread}`))
    expect([type, personal]).toEqual([type, undefined]);
});
