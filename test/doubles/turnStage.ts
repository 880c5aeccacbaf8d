import { z } from "zod";
import type { Command, RecordedEvent } from "#events/envelope.ts";
import { newId } from "#events/ids.ts";
import type { EventLog, Frame, StopReason, StreamHead } from "#events/ports.ts";
import { priceStream, type ModelPrice } from "#events/price.ts";
import type { Route } from "#events/route.ts";
import type { Prompt, ThreadEvent, ToolCall, TurnAgent } from "#events/thread.ts";
import { price } from "#services/deciders/price.ts";
import { thread, type ThreadState } from "#services/deciders/thread.ts";
import { sendTo } from "#services/send.ts";
import type { Model, ModelEvent, ModelRequest } from "#services/turns/model.ts";
import { createStepRecorder } from "#services/turns/steps.ts";
import { createCircuits } from "#services/turns/circuits.ts";
import { createRetryBudget } from "#services/turns/retryBudget.ts";
import { createRecentHistories } from "#services/turns/recentHistories.ts";
import { estimateLost } from "#services/turns/lostRequest.ts";
import { runTurn, type TurnRunnerOptions } from "#services/turns/run.ts";
import { createTurnMemory, type TurnMemory } from "#services/turns/turnMemory.ts";
import { createTurns } from "#services/turns/turns.ts";
import { defineTool, type Tool, type ToolContext } from "#services/turns/tools/tool.ts";
import { startTurn } from "../startTurn.ts";

export const USAGE = { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 1, reasoning_tokens: 1 };

export const times = (usage: typeof USAGE, n: number) =>
  Object.fromEntries(Object.entries(usage).map(([name, tokens]) => [name, tokens * n]));

/** The model's output of one round. */
interface ModelRound {
  text?: string[];
  calls?: (Omit<ToolCall, "id"> | string)[];
  more?: ModelEvent[];
  /** Thrown in place of the finish event. */
  error?: Error;
}

/** A tool that answers with its name and its argument, and `size` dots. */
export const echoTool = (name: string, run?: (context: ToolContext) => Promise<void>, size = 0): Tool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: z.object({ q: z.string().optional() }),
    async run({ q }, context) {
      await run?.(context);
      const source = { url: `https://docs.example/${name}#${q ?? ""}`, title: `${name} ${q ?? ""}` };
      return { text: `${name}(${q ?? ""})${".".repeat(size)}`, sources: [source] };
    },
  });

interface TurnScript {
  /** The model repeats the last round. */
  rounds: ModelRound[];
  tools?: Tool[];
  prompt?: Partial<Prompt>;
  streamed?: boolean;
  seconds?: number;
  /** The price that the organization has set for the model. */
  prices?: ModelPrice[];
  /** The turn names an alias for these models of `offline`. */
  targets?: string[];
  memory?: TurnMemory;
  /** The failures after which the next target is asked. */
  on?: string[];
  /** A model's own answer in place of the usual one. */
  answer?: (model: string) => ModelEvent[] | undefined;
  /** The error of a model in a round; undefined if it answers. */
  failure?: (model: string, round: number) => Error | undefined;
  /** The turn is a response of an agent. */
  agent?: TurnAgent;
  /** Turns of the organization that may wait for people. */
  max_parked?: number;
  /** The error with which reading credentials and blobs fails now. */
  outage?: () => Error | undefined;
}

const routeOf = (models: string[], on = ["5xx"]): Route => ({
  targets: models.map((model) => `offline/${model}`),
  on,
  timeout_seconds: 60,
  max_attempts: 3,
  max_seconds: 60,
});

/** One turn with its log, frames and blobs in memory, and workers that run it until they die. */
export function stageTurn(script: TurnScript) {
  const { rounds, tools = [], prompt, streamed, seconds, prices, targets, failure, agent, max_parked = 1 } = script;
  const organization_id = newId();
  const names = tools.map(({ name }) => name);
  const startCommand = startTurn("Question", {
    organization_id,
    ...(targets ? { model: "fast", route: routeOf(targets, script.on) } : { model: "offline/play" }),
    streamed,
    seconds,
    prompt: { tools: names, ...prompt },
    ...(agent && { agent }),
  });
  const events: RecordedEvent[] = [];
  const blobs = new Map<string, Buffer>();
  const frames: Frame[] = [];
  const requests: ModelRequest[] = [];
  const stops: ((why: StopReason) => void)[] = [];
  const deaths: { name: string; lives: number; die: () => void }[] = [];
  const state = (): ThreadState =>
    events.reduce<ThreadState>((before, event) => thread.evolve(before, event as ThreadEvent), thread.initial);

  const log = {
    read: async (_stream: string, from = 1) => events.filter(({ version }) => version >= from),
    readNewest: async (_stream: string, { before, types, limit }: Parameters<EventLog["readNewest"]>[1]) =>
      events.filter(({ version, type }) => version < before && types.includes(type)).slice(-limit),
    heads: async (streams: string[]) => {
      const error = script.outage?.();
      if (error) throw error;
      const stream = priceStream(organization_id, "offline/play");
      const head = {
        stream,
        organization_id,
        version: 1,
        position: 1,
        state_version: price.version,
        state: { prices },
      };
      return new Map(prices && streams.includes(stream) ? [[stream, head]] : []);
    },
    hasDied: async (worker: string) => deaths.some(({ name, lives }) => name === worker && events.length >= lives),
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
    for (const { lives, die } of deaths) if (events.length >= lives) die();
    return events.length;
  }

  const model: Model = {
    async *complete(request, signal) {
      const { share: _, ...sent } = request;
      requests.push(structuredClone(sent));
      const before = request.messages.filter((message) => message.role === "assistant" && message.calls).length;
      const round = rounds[Math.min(before, rounds.length - 1)]!;
      const failed = failure?.(request.model, before);
      if (failed) throw failed;
      const answered = script.answer?.(request.model);
      if (answered) return yield* answered;
      for (const text of round.text ?? []) yield { type: "text", text };
      for (const event of round.more ?? []) yield event;
      signal.throwIfAborted();
      if (round.error) throw round.error;
      const calls = (round.calls ?? []).map((call, n) => ({
        id: `call-${before}-${n}`,
        ...(typeof call === "string" ? { name: call, arguments: "{}" } : call),
      }));
      if (calls.length > 0) yield { type: "tool_calls", calls };
      yield { type: "finish", finish_reason: calls.length > 0 ? "tool_calls" : "stop", usage: USAGE };
    },
  };

  /** A worker that dies when the log holds `lives` events: nothing that it does after that has an effect. */
  function worker(name: string, lives = Number.POSITIVE_INFINITY) {
    const dead = () => events.length >= lives;
    const lost = new Promise<never>(() => {});
    const death = Promise.withResolvers<void>();
    deaths.push({ name, lives, die: () => void setTimeout(death.resolve, 1) });
    const handle = async (command: Command) => {
      if (dead()) return lost;
      const before = events.length;
      const position = append({ ...command, worker: name });
      turns.afterCommit({ command, events: events.slice(before), version: position, position });
      return dead() ? lost : { position: position > before ? position : 0, repeated: false };
    };
    const options: TurnRunnerOptions = {
      log,
      maxHistoryText: 100_000,
      recentHistories: createRecentHistories(),
      holdFiles: (_organization, _bytes, work) => work(),
      keyring: { openSecret: () => "" },
      accessPrefetch: { take: () => undefined },
      vault: {
        findKey: async () => "key",
        // a copy each time: a turn gives the memory of files back
        get: async (_owner, key) => {
          const error = script.outage?.();
          if (error) throw error;
          return blobs.has(key) ? Buffer.from(blobs.get(key)!) : undefined;
        },
        put: async ({ folder }, bytes) => {
          const key = `${folder}/${blobs.size}`;
          blobs.set(key, Buffer.from(bytes));
          return key;
        },
      },
      frames: {
        publish: (_organization, _turn, frame) => void (dead() || frames.push(frame)),
        sendToWaiter: (_organization, _turn, frame) => void (dead() || frames.push(frame)),
        subscribe: () => () => {},
        loadFrames: async () => frames,
        requestStop: () => {},
        onStop: (_organization, _turn, listener) => {
          stops.push(listener);
          return () => {};
        },
      },
      models: { open: () => model },
      circuits: createCircuits(),
      retryBudget: createRetryBudget(),
      tools: { find: async (_, names) => names.flatMap((name) => tools.find((tool) => tool.name === name) ?? []) },
      handle,
      countTokens: async (text) => text.length,
      countPrompt: async ({ messages }) => JSON.stringify(messages).length,
      budgets: { reserveMoney: async () => {}, notePark: async () => {}, noteResume: async () => {} },
      memory: script.memory ?? createTurnMemory(),
      toolApprovals: { default_seconds: 3_600, max_parked, countParked: async () => 0, hasAgent: async () => true },
      deployment: [],
      offline: true,
      onToolError: () => {},
      onCredentialRefused: () => {},
    };
    const turns = createTurns({
      log,
      frames: options.frames,
      worker: name,
      send: sendTo(handle, name),
      run: (turn, stopping) => runTurn(options, turn, stopping),
      readFrames: async (_turn, blob) => JSON.parse(blobs.get(blob)!.toString()),
      estimateLost: (turn) => estimateLost(options, turn).catch(() => undefined),
      storeFrames: (turn, stored) => createStepRecorder(options, turn).storeFrames(stored),
      onError: (error) => {
        throw error;
      },
    });
    /** A resumed turn reads the log before it runs. */
    const settled = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await turns.idle();
    };
    return {
      /** Starts the turn and runs it until it ends or the worker dies. */
      async start() {
        const position = append({ ...startCommand, worker: name });
        turns.afterCommit({ command: startCommand, events: [events[position - 1]!], version: position, position });
        await Promise.race([turns.idle(), death.promise]);
      },
      leave: turns.leave,
      /** Decides the turn's oldest pending approval, and continues the turn until it ends, waits or the worker dies. */
      async decide(decision: "approve" | "reject", comment: string | null = null) {
        const now = state();
        const turn = now.status === "open" ? now.turn : null;
        const [approval_id] = Object.keys(turn?.approvals ?? {});
        const data = { turn_id: turn?.id, approval_id, decision, by: { type: "person", id: newId() }, comment };
        const decided = handle({
          ...startCommand,
          id: newId(),
          type: "DecideToolApproval",
          at: new Date().toISOString(),
          data,
        });
        await Promise.race([decided.then(settled), death.promise]);
      },
      /** Sweeps the turn once. */
      async sweep() {
        const now = state();
        if (now.status !== "open" || !now.turn) return;
        const head = { ...thread.workStatus!(now), stream: startCommand.stream, organization_id, state: now };
        const row = { ...head, version: 1, position: 1, state_version: thread.version } as StreamHead;
        await Promise.race([turns.resumeWork(row).then(settled), death.promise]);
      },
    };
  }

  return {
    worker,
    events,
    frames,
    requests,
    blobs,
    types: () => events.map(({ type }) => type),
    /** Requests a stop of the turn. */
    stop: (why: StopReason = "stopped") => stops.forEach((listener) => listener(why)),
  };
}

export const lastEvent = ({ events }: Pick<ReturnType<typeof stageTurn>, "events">): any => events.at(-1);
