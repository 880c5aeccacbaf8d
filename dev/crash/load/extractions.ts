import { markdownForm } from "./documents.ts";
import { onceOnly, perform, type Action } from "./session.ts";

const EXTRACTIONS = "/api/v1/extractions";

export async function extract(action: Action): Promise<void> {
  const { id, session, random } = action;
  const done = await perform(action, {
    what: "extraction.request",
    keyed: true,
    asked: {},
    wanted: {
      method: "POST",
      path: EXTRACTIONS,
      token: session.api_key,
      headers: onceOnly(id),
      form: markdownForm(id, `# Extract ${id}\n\n${"word ".repeat(random.int(10, 2_000))}`),
    },
    read: ({ body }) => ({ extraction_id: body.id }),
  });
  if (done.got["extraction_id"]) session.extractions.push(done.got["extraction_id"]);
}

export async function readExtraction(action: Action, extraction_id: string): Promise<void> {
  await perform(action, {
    what: "extraction.read",
    asked: { extraction_id },
    wanted: { method: "GET", path: `${EXTRACTIONS}/${extraction_id}`, token: action.session.api_key },
    read: ({ body }) => ({ status: body.status, markdown: body.markdown }),
  });
}

export async function deleteExtraction(action: Action, extraction_id: string): Promise<void> {
  const { api_key, extractions } = action.session;
  extractions.splice(extractions.indexOf(extraction_id), 1);
  await perform(action, {
    what: "extraction.delete",
    asked: { extraction_id },
    wanted: { method: "DELETE", path: `${EXTRACTIONS}/${extraction_id}`, token: api_key },
  });
}
