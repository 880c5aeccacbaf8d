import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import type { ErrorCode } from "#events/errorCodes.ts";
import { RemoveRetention, RETENTION_SUBJECT, retentionStream, SetRetention } from "#events/retention.ts";
import { countExpired, countHeld, EXPIRED_MODELS } from "#projections/retention/expired.ts";
import { listRetention } from "#projections/retention/query.ts";
import { requireAdmin } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import { checkCount } from "../base/countLimits.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { findProject } from "../base/findProject.ts";
import { describeList, sliceResponse } from "../base/pageResponse.ts";
import {
  RetentionPreview,
  presentPreview,
  presentRetention,
  readRules,
  Retention,
  RetentionToSet,
} from "./retentionShape.ts";

/** Reads the subject of a rule. Throws 400 `invalid_subject` and `unknown_project`. */
async function readSubject(http: Http, { organization_id }: FastifyRequest["caller"], name: string): Promise<string> {
  const subject = name.toLowerCase();
  const refuse = (code: ErrorCode, message: string) => new ApiError(code, message, { param: "subject" });
  if (!RETENTION_SUBJECT.test(subject))
    throw refuse("invalid_subject", "subject must be organization or project:<id>.");
  const [, project] = subject.split(":");
  if (project && !(await findProject(http, organization_id, project)))
    throw refuse("unknown_project", "subject: there is no such project.");
  return subject;
}

/** Throws a 400. */
async function readSettings(
  http: Http,
  caller: FastifyRequest["caller"],
  name: string,
  body: z.infer<typeof RetentionToSet>,
) {
  const rules = readRules(body);
  if (Object.keys(rules).length === 0)
    throw new ApiError(null, "Set threads, turns, files, documents or runs. DELETE removes the rules.", {
      param: "threads",
    });
  return { subject: await readSubject(http, caller, name), rules };
}

const findRules = async ({ db }: Http, organization: string, subject: string) =>
  (await listRetention(db, organization)).find((one) => one.subject === subject);

async function read(http: Http, organization: string, subject: string) {
  await http.waitUntilCurrent(["retention"]);
  const row = await findRules(http, organization, subject);
  if (row) return presentRetention(row);
  throw new ApiError("retention_not_found", "This subject has no retention rules.", { param: "subject" });
}

const commandFor = (request: FastifyRequest, subject: string) => ({
  ...commandFields(request, retentionStream(request.caller.organization_id, subject), ["retention"]),
  requireProjected: true,
});

/** Retention periods of threads, turns, files, documents and runs, for owners and admins. */
export function retentionRoutes(app: App, http: Http): void {
  const onRequest = requireAdmin(http);
  const baseSchema = { tags: ["Retention"], security: [{ session: [] }] };
  const params = z.object({ subject: z.string().describe("`organization`, or `project:<id>`.") });
  const itemSchema = { ...baseSchema, params };

  const listing = describeList(baseSchema, "List retention rules and what they have deleted", Retention);
  app.get("/retention", { onRequest, schema: listing }, async ({ caller, query }) => {
    await http.waitUntilCurrent(["retention"]);
    const rows = await listRetention(http.db, caller.organization_id);
    return sliceResponse(query, rows, presentRetention);
  });

  const reading = { ...itemSchema, summary: "Get the retention rules of a subject", response: { 200: Retention } };
  app.get("/retention/:subject", { onRequest, schema: reading }, ({ caller, params }) =>
    read(http, caller.organization_id, params.subject.toLowerCase()),
  );

  const setting = {
    ...itemSchema,
    summary: "Set the retention rules of a subject",
    description:
      "Replaces all rules of the subject. From now on, older things are deleted within an hour, as by DELETE. They cannot be restored, so request a preview first.",
    body: RetentionToSet,
    response: { 200: Retention },
  };
  app.put("/retention/:subject", { onRequest, schema: setting }, async (request) => {
    const { caller, params, body } = request;
    const data = await readSettings(http, caller, params.subject, body);
    await checkCount(http, caller.organization_id, "retention_rules", () =>
      findRules(http, caller.organization_id, data.subject),
    );
    await http.send(SetRetention, { ...commandFor(request, data.subject), data });
    return read(http, caller.organization_id, data.subject);
  });

  const removing = { ...itemSchema, summary: "Remove the retention rules of a subject", response: { 204: z.null() } };
  app.delete("/retention/:subject", { onRequest, schema: removing }, async (request, reply) => {
    const { subject } = await read(http, request.caller.organization_id, request.params.subject.toLowerCase());
    await http.send(RemoveRetention, { ...commandFor(request, subject), data: { subject } });
    return reply.code(204).send(null);
  });

  const previewing = {
    ...itemSchema,
    summary: "Count what retention rules would delete now",
    description: "Changes nothing.",
    body: RetentionToSet,
    response: { 200: RetentionPreview },
  };
  app.post("/retention/:subject/preview", { onRequest, schema: previewing }, async (request) => {
    const { caller, params, body } = request;
    const settings = await readSettings(http, caller, params.subject, body);
    await request.acquireLongRead();
    await http.waitUntilCurrent(EXPIRED_MODELS);
    const range = { ...settings, now: new Date(currentTime()) };
    const held = await countHeld(http.db, caller.organization_id, range);
    return { ...presentPreview(await countExpired(http.db, caller.organization_id, range)), held };
  });
}
