import { presentWarnings } from "#http/base/warningShape.ts";
import { listWarnedDocuments } from "#projections/documents/warned.ts";
import { withDatabase } from "./connect.ts";
import { print, escapeControls, printJson, printLine, formatTable } from "./output.ts";

interface Options {
  organization?: string;
  limit: number;
  json?: boolean;
}

/** Prints the documents whose text lacks content of their file. */
export const listWarnings = ({ organization, limit, json }: Options): Promise<void> =>
  withDatabase(async ({ db }) => {
    const documents = await listWarnedDocuments(db, organization ?? null, limit);
    const shown = documents.map(({ warnings, ...document }) => ({ ...document, ...presentWarnings(warnings) }));
    if (json) return printJson(shown);
    if (shown.length === 0) return print("No document lacks anything that its file has.");
    const rows = shown.flatMap(({ id, name, warnings = [] }) =>
      warnings.map(({ code, message }) => [id, escapeControls(name), code, message]),
    );
    print(formatTable([["document", "name", "warning", "meaning"], ...rows]));
    if (shown.length === limit) printLine("These were changed last: there may be more, see --limit.");
  });
