import { z } from "zod";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { isObject } from "#events/json.ts";
import type { OrganizationDeadLetters } from "../base/ports.ts";
import { firstLine } from "./firstLine.ts";

/** Maximum letters listed. There are more only if something is badly broken. */
const MAX_LETTERS = 100;

const nullable = z.string().nullable();
const DeadLetter = z
  .object({
    seq: z.int(),
    at: z.iso.datetime(),
    kind: z.enum(["command", "reaction"]),
    reason: z.string().describe("`failed too often` or `undecodable`."),
    error: z.string().describe("The first line of the last error."),
    type: nullable.describe("Of a command or an event; null if it could not be read."),
    stream: nullable,
    request_id: nullable,
  })
  .meta({ title: "DeadLetter" });
const List = z.object({ data: z.array(DeadLetter), has_more: z.boolean() });

type Letter = Awaited<ReturnType<OrganizationDeadLetters["list"]>>[number];

const readField = (message: unknown, name: string): string | null => {
  const value = isObject(message) ? message[name] : undefined;
  return typeof value === "string" ? value : null;
};

/** Leaves out the content, which may be personal. */
const present = ({ seq, at, reason, error, subject, command }: Letter): z.infer<typeof DeadLetter> => ({
  seq,
  at: at.toISOString(),
  kind: subject.split(".")[1] === "cmd" ? "command" : "reaction",
  reason,
  error: firstLine(error),
  type: readField(command, "type"),
  stream: readField(command, "stream"),
  request_id: readField(command, "request_id"),
});

const notFound = () =>
  new ApiError("dead_letter_not_found", "There is no dead letter with this number: it was sent again or removed.", {
    param: "seq",
  });

/** The dead letters of one organization, for its owners and admins. `svc dead` shows those of the whole deployment. */
export function deadLetterRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Operations"], security: [{ session: [] }] };
  const itemSchema = {
    ...baseSchema,
    params: z.object({ seq: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER) }),
  };

  const listing = {
    ...baseSchema,
    summary: "List dead letters of the organization, oldest first",
    description: `Commands and reactions that failed five times, or that could not be read. The oldest ${MAX_LETTERS}, without their content.`,
    response: { 200: List },
  };
  app.get("/dead-letters", { onRequest, schema: listing }, async ({ caller }) => {
    const letters = await http.deadLetters.list(MAX_LETTERS + 1, caller.organization_id);
    return { data: letters.slice(0, MAX_LETTERS).map(present), has_more: letters.length > MAX_LETTERS };
  });

  const replaying = {
    ...itemSchema,
    summary: "Send a dead letter again",
    description: "It gets a deadline in one minute, and is removed. If it fails again, there is a new dead letter.",
    response: { 204: z.null() },
  };
  app.post("/dead-letters/:seq/replay", { onRequest, schema: replaying }, async ({ caller, params }, reply) => {
    if (!(await http.deadLetters.replay(params.seq, caller.organization_id))) throw notFound();
    return reply.code(204).send(null);
  });

  const removing = { ...itemSchema, summary: "Remove a dead letter", response: { 204: z.null() } };
  app.delete("/dead-letters/:seq", { onRequest, schema: removing }, async ({ caller, params }, reply) => {
    if (!(await http.deadLetters.remove(params.seq, caller.organization_id))) throw notFound();
    return reply.code(204).send(null);
  });
}
