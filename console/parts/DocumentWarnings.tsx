import type { DocumentWarning } from "../api/knowledge.ts";

/** What the text of a document does not have, although the file does: pages, pictures, deletions. */
export const DocumentWarnings = ({ warnings = [] }: { warnings: DocumentWarning[] | undefined }) =>
  warnings.map(({ code, message }) => (
    <p key={code} className="notice warn">
      {message}
    </p>
  ));
