import type { DocumentWarning } from "../api/knowledge.ts";

/** Parts of the file that a document's text lacks, such as pages, pictures and deletions. */
export const DocumentWarnings = ({ warnings = [] }: { warnings: DocumentWarning[] | undefined }) =>
  warnings.map(({ message }) => (
    <p key={message} className="notice warn">
      {message}
    </p>
  ));
