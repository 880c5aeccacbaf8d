import { EndAgentTurns } from "#events/agent.ts";
import type { CommandResult } from "#events/envelope.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import { createBatchDeleter } from "../deleteInBatches.ts";
import type { Send } from "../send.ts";

const DELETED = "The agent was deleted while its answer waited for the approval of a tool call.";

export interface AgentEnderOptions {
  /** Lists some threads in which a turn of an agent waits for a person; undefined while the read model is behind the position. */
  listParkedThreads(organization: string, agent_id: string, position: number): Promise<string[] | undefined>;
  /** Fails the turn that waits in a thread; undefined if none does. */
  endParked(stream: string, message: string): Promise<CommandResult | undefined>;
  send: Send;
  onError(error: unknown, stream: string): void;
}

/** Ends turns of deleted agents that wait for people, because nobody may decide for a deleted agent. */
export const createAgentEnder = ({ listParkedThreads, endParked, send, onError }: AgentEnderOptions) =>
  createBatchDeleter({
    open(head) {
      const agent_id = parseStreamName(head.stream).id;
      const end = async (thread: string): Promise<CommandResult> =>
        (await endParked(streamName("thread", thread), DELETED)) ?? { position: 0, repeated: false };
      return {
        async deleteSome(position) {
          const threads = await listParkedThreads(head.organization_id, agent_id, position);
          return threads && Promise.all(threads.map(end));
        },
        complete: () => send(head, EndAgentTurns.type, { agent_id }),
      };
    },
    onError,
  });
