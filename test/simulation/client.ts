import type { CommandResult, Command } from "#events/envelope.ts";
import { deriveId, newId } from "#events/ids.ts";
import { DeleteThread, StartTurn } from "#events/thread.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openConnection } from "./connection.ts";
import type { ModelBehaviour } from "./model.ts";
import { keyring, type Deployment } from "./node.ts";

const FIRST_LOOK_MS = 1_500;
const NEXT_LOOK_MS = 1_000;
const COMMAND_MS = 15_000;
const TURN_MS = 20_000;
const LONGEST_WAIT_MS = 3_000;

export const ORGANIZATION = deriveId("organization");

/** One request of a client. */
export interface ClientRequest {
  /** When it is sent, in milliseconds. */
  at: number;
  thread: number;
  want: "turn" | "delete";
  behaviour: ModelBehaviour;
  /** Milliseconds after which the reader of a turn disconnects. */
  leaves: number | null;
  /** Milliseconds after which the request is repeated, although it was answered. */
  again: number | null;
}

/** An answer that a client got. */
export interface AcknowledgedRequest {
  command_id: string;
  request: ClientRequest;
  answer: CommandResult;
  at: number;
}

export const threadOf = ({ thread }: Pick<ClientRequest, "thread">) => `thread-${deriveId("thread", String(thread))}`;

/** A client of an http process. Sends a request until it is answered, like the bus's command sender, and retries. */
export function createClient({ world, database, bus }: Deployment) {
  const log = openLog(openConnection(world, database), keyring);
  const acknowledged: AcknowledgedRequest[] = [];

  function commandFor(request: ClientRequest, id: string, fresh: boolean): Command {
    const deadline = new Date(Date.now() + COMMAND_MS).toISOString();
    const common = { id, stream: threadOf(request), organization_id: ORGANIZATION, principal: "system" as const };
    const more = { at: new Date().toISOString(), deadline, request_id: id, fingerprint: id };
    if (request.want === "delete") return { ...common, ...more, type: DeleteThread.type, data: { scope: "all" } };
    const messages = [{ role: "user", text: request.behaviour, attachments: [] }];
    const settings = { temperature: null, top_p: null, max_output_tokens: null, seed: null, user: null };
    const input = {
      prompt: { ...settings, instructions: null, messages, stop: [], response_format: { type: "text" }, vars: {} },
    };
    const ends_by = new Date(Date.now() + TURN_MS).toISOString();
    const turn = {
      turn_id: newId(),
      scope: "all",
      model: "offline/scripted",
      streamed: request.leaves !== null,
      ends_by,
    };
    return { ...common, ...more, fresh, type: StartTurn.type, data: { ...turn, input, continues: !fresh } };
  }

  /** Undefined when the outcome is unknown by the deadline. */
  async function send(command: Command): Promise<CommandResult | undefined> {
    let answer: CommandResult | undefined;
    let stored = false;
    const heard = Promise.withResolvers<void>();
    const publish = () =>
      bus.publish(
        command,
        (given) => {
          answer ??= given;
          heard.resolve();
        },
        () => (stored = true),
      );
    publish();
    const deadline = Date.parse(command.deadline);
    for (let wait = FIRST_LOOK_MS; ; wait = NEXT_LOOK_MS) {
      await Promise.race([heard.promise, world.sleep(wait)]);
      if (answer) return answer;
      const outcome = await log.outcome(command.id, ORGANIZATION).catch(() => undefined);
      if (outcome) {
        const { position, rejection } = outcome;
        return { position, repeated: true, ...(rejection ? { rejection } : {}) };
      }
      if (Date.now() > deadline) return undefined;
      if (!stored) publish();
    }
  }

  async function ask(request: ClientRequest, id: string, fresh: boolean): Promise<void> {
    for (let tries = 1; ; tries++) {
      const command = commandFor(request, id, fresh);
      const answer = await send(command);
      if (answer && !answer.rejection?.retryable) {
        acknowledged.push({ command_id: id, request, answer, at: world.now() });
        if (request.leaves !== null && !answer.repeated && answer.position > 0) {
          await world.sleep(request.leaves);
          bus.frames.requestStop(ORGANIZATION, command.data.turn_id);
        }
        return;
      }
      await world.sleep(Math.min(tries * 250, LONGEST_WAIT_MS));
    }
  }

  return {
    acknowledged,
    /** Resolves when the request was answered. */
    async fulfil(request: ClientRequest, n: number, fresh: boolean): Promise<void> {
      await world.sleep(request.at);
      const id = deriveId("request", String(n)).replaceAll("-", "").padEnd(64, "0");
      await ask(request, id, fresh);
      if (request.again === null) return;
      await world.sleep(request.again);
      await ask(request, id, fresh);
    },
  };
}
