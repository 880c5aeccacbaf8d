import type { RunRow } from "#projections/runs/query.ts";
import type { Http } from "../base/deps.ts";
import type { EventStream } from "../base/sse.ts";
import { openFrameReader, type FrameReader } from "../turns/frameReader.ts";
import type { RecordedRunEvent } from "./foldSteps.ts";

const POLL_MS = 15_000;
/** Turns whose words one stream has at a time; the next one follows when one ends. */
const MAX_TURNS = 20;
/** How long the last words may take after the end of the run. */
const LAST_WORDS_MS = 1_000;

interface OpenTurn {
  key: string;
  turn_id: string;
}

/**
 * Sends the words of the agents that a run has asked as they come, without an id: they are frames of the turn, and no history.
 * A client that joins later gets those of the turns under way from their beginning.
 */
export function createAgentWords(
  { frames }: Pick<Http, "frames">,
  { id: run_id, organization_id }: Pick<RunRow, "id" | "organization_id">,
  sse: Pick<EventStream, "write">,
) {
  /** Turns under way that nobody reads yet. */
  const open = new Map<string, OpenTurn>();
  const reading = new Map<FrameReader, Promise<void>>();
  let isClosed = false;

  async function readWords(reader: FrameReader, { key, turn_id }: OpenTurn): Promise<void> {
    const response_id = `resp_${turn_id}`;
    await reader.catchUp().catch(() => {});
    while (!isClosed) {
      const frame = await reader.next(POLL_MS);
      if (frame?.type === "end") break;
      if (frame?.type !== "text") continue;
      const { attempt, n, text } = frame;
      const data = JSON.stringify({ run_id, key, response_id, attempt, n, text });
      if (!isClosed) sse.write(`event: agent.delta\ndata: ${data}\n\n`);
    }
    reader.close();
    reading.delete(reader);
    follow();
  }

  /** Begins to read the turns under way. */
  function follow(): void {
    for (const turn of open.values()) {
      if (isClosed || reading.size >= MAX_TURNS) return;
      open.delete(turn.key);
      const reader = openFrameReader(frames, organization_id, turn.turn_id);
      reading.set(reader, readWords(reader, turn));
    }
  }

  return {
    apply({ type, data }: RecordedRunEvent): void {
      if (type === "AgentTurnStarted") open.set(data.key, data);
      if (type === "WaitAnswered") open.delete(data.key);
    },
    follow,
    async close(): Promise<void> {
      const ended = Promise.all(reading.values());
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref())]);
      isClosed = true;
      for (const reader of reading.keys()) reader.close();
    },
  };
}
