import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { streamName } from "#events/ids.ts";
import { MAX_OCR_LANGUAGES } from "#events/ocrLanguages.ts";
import { SetOcrLanguages } from "#events/organization.ts";
import { findOcrLanguages } from "#projections/organizations/query.ts";
import { requireAdmin, requireCredential } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { requireLanguages } from "../base/ocrLanguages.ts";

const Languages = z
  .array(z.string())
  .nullable()
  .describe(
    `Languages that text recognition looks for, the most frequent first: at most ${MAX_OCR_LANGUAGES}. Null: those of the deployment.`,
  );

const OcrSettings = z
  .object({
    languages: Languages,
    default_languages: z.array(z.string()).describe("Those of the deployment."),
    installed: z.array(z.string()).describe("The languages to choose from: `eng`, `deu` …"),
    available: z.boolean().describe("Whether text in pictures is recognized: a deployment can turn it off."),
  })
  .meta({ title: "OcrSettings" });

async function read({ db, settings, ocrLanguages }: Http, organization: string): Promise<z.infer<typeof OcrSettings>> {
  return {
    languages: await findOcrLanguages(db, organization),
    default_languages: settings.OCR_LANGUAGES,
    installed: [...ocrLanguages],
    available: settings.OCR,
  };
}

async function setLanguages(http: Http, request: FastifyRequest, sent: string[] | null) {
  const { organization_id } = request.caller;
  const languages = sent && requireLanguages(http, "languages", sent);
  const fields = commandFields(request, streamName("organization", organization_id), ["organizations"]);
  await http.send(SetOcrLanguages, { ...fields, data: { languages }, requireProjected: true });
  return read(http, organization_id);
}

/** The languages of an organization's text recognition (OCR), which owners and admins can change. */
export function ocrRoutes(app: App, http: Http): void {
  const tags = ["Accounts"];
  const reading = {
    tags,
    security: [{ key: [] }],
    summary: "Get the languages of text recognition (OCR)",
    response: { 200: OcrSettings },
  };
  app.get("/ocr", { onRequest: requireCredential(http), schema: reading }, async ({ caller }) => {
    await http.waitUntilCurrent(["organizations"], streamName("organization", caller.organization_id));
    return read(http, caller.organization_id);
  });

  const setting = {
    tags,
    security: [{ session: [] }],
    summary: "Set the languages of text recognition (OCR)",
    description:
      "They hold for files that are read from now on. A file that was recognized keeps its languages, also when it is read again.",
    body: z.object({ languages: Languages }),
    response: { 200: OcrSettings },
  };
  app.put("/ocr", { onRequest: requireAdmin(http), schema: setting }, (request) =>
    setLanguages(http, request, request.body.languages),
  );
}
