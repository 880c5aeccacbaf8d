import { z } from "zod";
import type { ThreadRow } from "#projections/turns/threads.ts";

export const Thread = z
  .object({
    id: z.string().describe("Send it as `x-thread-id` to continue the thread."),
    object: z.literal("thread"),
    owner: z.string().describe("`key:<id>` or `person:<id>`."),
    agent_id: z.string().nullable().describe("The agent that answers in it; null for a chat."),
    model: z.string().describe("Of its newest turn."),
    status: z.enum(["running", "completed", "failed", "stopped"]).describe("Of its newest turn."),
    title: z.string().nullable().describe("The first words of its first user message; null if it has no text."),
    turns: z.int().describe("Turns with their answers, counted up to 1,000."),
    newest_turn_id: z.string().describe("`GET /api/turns/{id}/trace` says how it was answered."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().describe("When its newest turn ended; while that runs, when it started."),
  })
  .meta({ title: "Thread" });

export const presentThread = (thread: ThreadRow): z.infer<typeof Thread> => ({
  id: thread.id,
  object: "thread",
  owner: thread.principal,
  agent_id: thread.agent_id,
  model: thread.model,
  status: thread.status,
  title: thread.title,
  turns: thread.turns,
  newest_turn_id: thread.newest_turn_id,
  created_at: thread.created_at.toISOString(),
  updated_at: thread.updated_at.toISOString(),
});
