import type { RunRow } from "#projections/runs/query.ts";
import type { Http } from "../base/deps.ts";
import type { EventStream } from "../base/sse.ts";
import { openFrameReader, type FrameReader } from "../turns/frameReader.ts";
import type { RecordedRunEvent } from "./foldSteps.ts";

const POLL_MS = 15_000;
/** Maximum turns that one stream relays at a time. The next one follows when one ends. */
const MAX_TURNS = 20;
/** How long the stream waits, after the run has ended, for the last output of turns that have ended. */
const LAST_OUTPUT_MS = 1_000;

interface OpenTurn {
  key: string;
  turn_id: string;
}

/**
 * Relays the output of the agents that a run asks, as it arrives. The messages have no id, because they are frames of a turn and
 * not events of the run. A client that joins later gets the output of running turns from their beginning.
 */
export function createAgentOutputRelay(
  { frames }: Pick<Http, "frames">,
  { id: run_id, organization_id }: Pick<RunRow, "id" | "organization_id">,
  sse: Pick<EventStream, "write" | "drainedBefore">,
) {
  /** Running turns that are not relayed yet. */
  const open = new Map<string, OpenTurn>();
  const reading = new Map<FrameReader, { key: string; relayed: Promise<void> }>();
  /** Keys of calls whose turns have ended, so that their last frames are on their way. */
  const answered = new Set<string>();
  let isClosed = false;

  async function relayOutput(reader: FrameReader, { key, turn_id }: OpenTurn): Promise<void> {
    const response_id = `resp_${turn_id}`;
    await reader.catchUp().catch(() => {});
    while (!isClosed) {
      const frame = await reader.next(POLL_MS);
      if (frame?.type === "end") break;
      if (frame?.type !== "text") continue;
      const { attempt, n, text } = frame;
      const data = JSON.stringify({ run_id, key, response_id, attempt, n, text });
      if (!isClosed) sse.write(`event: agent.delta\ndata: ${data}\n\n`);
      await reader.pace(sse);
    }
    reader.close();
    reading.delete(reader);
    follow();
  }

  /** Starts to relay running turns. */
  function follow(): void {
    for (const turn of open.values()) {
      if (isClosed || reading.size >= MAX_TURNS) return;
      open.delete(turn.key);
      const reader = openFrameReader(frames, organization_id, turn.turn_id);
      reading.set(reader, { key: turn.key, relayed: relayOutput(reader, turn) });
    }
  }

  return {
    apply({ type, data }: RecordedRunEvent): void {
      if (type === "AgentTurnStarted") open.set(data.key, data);
      if (type !== "WaitAnswered") return;
      open.delete(data.key);
      answered.add(data.key);
    },
    follow,
    /** Waits only for turns that have ended: others are of no use to a run that has. */
    async close(): Promise<void> {
      const last = [...reading.values()].filter(({ key }) => answered.has(key)).map(({ relayed }) => relayed);
      await Promise.race([Promise.all(last), new Promise((resolve) => setTimeout(resolve, LAST_OUTPUT_MS).unref())]);
      isClosed = true;
      for (const reader of reading.keys()) reader.close();
    },
  };
}
