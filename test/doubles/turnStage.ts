import { z } from "zod";
import type { Command, Recorded } from "#events/envelope.ts";
import { newId } from "#events/ids.ts";
import type { EventLog, Frame, Keyring, StopReason, StreamHead } from "#events/ports.ts";
import type { Prompt, ThreadEvent, ToolCall } from "#events/thread.ts";
import { thread, type ThreadState } from "#services/deciders/thread.ts";
import type { Model, ModelEvent, ModelRequest } from "#services/turns/model.ts";
import { stepsOf } from "#services/turns/steps.ts";
import { runTurn, type TurnRunnerOptions } from "#services/turns/run.ts";
import { createTurns } from "#services/turns/turns.ts";
import { defineTool, type Calling, type Tool } from "#services/turns/tools/tool.ts";
import { startTurn } from "../startTurn.ts";

export const USAGE = { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 1, reasoning_tokens: 1 };

export const times = (usage: typeof USAGE, n: number) =>
  Object.fromEntries(Object.entries(usage).map(([name, tokens]) => [name, tokens * n]));

/** What a model says in one round. */
export interface Said {
  text?: string[];
  calls?: (Omit<ToolCall, "id"> | string)[];
  more?: ModelEvent[];
  /** Breaks off instead of finishing. */
  error?: Error;
}

/** A tool that answers with its name and what it was given. */
export const toolOf = (name: string, run?: (calling: Calling) => Promise<void>, size = 0): Tool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: z.object({ q: z.string().optional() }),
    async run({ q }, calling) {
      await run?.(calling);
      const source = { url: `https://docs.example/${name}#${q ?? ""}`, title: `${name} ${q ?? ""}` };
      return { text: `${name}(${q ?? ""})${".".repeat(size)}`, sources: [source] };
    },
  });

const keyring = {
  seal: (_thing: string, _wrapped: string, plain: Uint8Array) => Buffer.from(plain),
  open: (_thing: string, _wrapped: string, sealed: Uint8Array) => Buffer.from(sealed),
} as Keyring;

interface Play {
  /** What the model says, round by round; it repeats the last. */
  rounds: Said[];
  tools?: Tool[];
  prompt?: Partial<Prompt>;
  streamed?: boolean;
  seconds?: number;
}

/** One turn with a log, frames and blobs in memory, and workers that run it until they die. */
export function stage({ rounds, tools = [], prompt, streamed, seconds }: Play) {
  const organization_id = newId();
  const names = tools.map(({ name }) => name);
  const start = startTurn("Question", {
    organization_id,
    model: "offline/play",
    streamed,
    seconds,
    prompt: { tools: names, ...prompt },
  });
  const events: Recorded[] = [];
  const blobs = new Map<string, Buffer>();
  const frames: Frame[] = [];
  const asked: ModelRequest[] = [];
  const stops: ((why: StopReason) => void)[] = [];
  const state = (): ThreadState =>
    events.reduce<ThreadState>((before, event) => thread.evolve(before, event as ThreadEvent), thread.initial);

  const log = {
    read: async () => [...events],
    heads: async () => new Map(),
  } as unknown as EventLog;

  function append(command: Command): number {
    for (const event of thread.decide(command as never, state())) {
      const at = events.length + 1;
      const { stream, id, principal, request_id } = command;
      const meta = { principal, request_id };
      const known = {
        position: at,
        version: at,
        stream,
        organization_id,
        command_id: id,
        recorded_at: new Date(),
        meta,
      };
      events.push({ ...JSON.parse(JSON.stringify({ personal: undefined, ...event })), ...known });
    }
    return events.length;
  }

  const model: Model = {
    async *complete(request, signal) {
      asked.push(structuredClone(request));
      const before = request.messages.filter((message) => message.role === "assistant" && message.calls).length;
      const said = rounds[Math.min(before, rounds.length - 1)]!;
      for (const text of said.text ?? []) yield { type: "text", text };
      for (const event of said.more ?? []) yield event;
      signal.throwIfAborted();
      if (said.error) throw said.error;
      const calls = (said.calls ?? []).map((call, n) => ({
        id: `call-${before}-${n}`,
        ...(typeof call === "string" ? { name: call, arguments: "{}" } : call),
      }));
      if (calls.length > 0) yield { type: "tool_calls", calls };
      yield { type: "finish", finish_reason: calls.length > 0 ? "tool_calls" : "stop", usage: USAGE };
    },
  };

  /** A worker that dies once so many commands are in the log: what it does from then on reaches nobody. */
  function worker(name: string, lives = Number.POSITIVE_INFINITY) {
    const dead = () => events.length >= lives;
    const lost = new Promise<never>(() => {});
    const handle = async (command: Command) => {
      if (dead()) return lost;
      const before = events.length;
      const position = append({ ...command, worker: name });
      return dead() ? lost : { position: position > before ? position : 0, repeated: false };
    };
    const options: TurnRunnerOptions = {
      log,
      keyring,
      blobs: {
        get: async (key) => blobs.get(key),
        put: async (folder, bytes) => {
          const key = `${folder}/${blobs.size}`;
          blobs.set(key, Buffer.from(bytes));
          return key;
        },
      },
      dataKeys: { find: async (things) => new Map(things.map((thing) => [thing, "key"])) },
      frames: {
        publish: (_organization, _turn, frame) => void (dead() || frames.push(frame)),
        tell: (_organization, _turn, frame) => void (dead() || frames.push(frame)),
        subscribe: () => () => {},
        kept: async () => frames,
        stop: () => {},
        onStop: (_organization, _turn, listener) => {
          stops.push(listener);
          return () => {};
        },
      },
      models: { open: () => model },
      tools: { find: async (_, names) => names.flatMap((name) => tools.find((tool) => tool.name === name) ?? []) },
      handle,
      countTokens: async (text) => text.length,
      deployment: [],
      offline: true,
      onToolError: () => {},
    };
    const turns = createTurns({
      log,
      frames: options.frames,
      worker: name,
      run: (turn, leaving) => runTurn(options, turn, leaving),
      keepTold: (turn, told) => stepsOf(options, turn).keepTold(told),
      onError: (error) => {
        throw error;
      },
    });
    return {
      /** Starts the turn here and runs it, as far as this worker lives. */
      async begin() {
        const position = append({ ...start, worker: name });
        turns.afterCommit({ command: start, events: [events[position - 1]!], version: position });
        await Promise.race([turns.idle(), gone(dead)]);
      },
      leave: turns.leave,
      /** Does what the sweep of this worker does about the turn. */
      async attend() {
        const now = state();
        if (now.status !== "open" || !now.turn) return;
        const head = { ...thread.head!(now), stream: start.stream, organization_id, state: now };
        const row = { ...head, version: 1, position: 1, state_version: thread.version } as StreamHead;
        await Promise.race([turns.attend(handle, row).then(turns.idle), gone(dead)]);
      },
    };
  }

  return {
    worker,
    events,
    frames,
    asked,
    blobs,
    types: () => events.map(({ type }) => type),
    /** Asks the worker to stop the turn. */
    stop: (why: StopReason = "stopped") => stops.forEach((listener) => listener(why)),
  };
}

export const endOf = ({ events }: Pick<ReturnType<typeof stage>, "events">): any => events.at(-1);

/** Resolves some time after a worker has died. */
async function gone(dead: () => boolean): Promise<void> {
  while (!dead()) await new Promise((resolve) => setTimeout(resolve, 1));
  await new Promise((resolve) => setTimeout(resolve, 1));
}
