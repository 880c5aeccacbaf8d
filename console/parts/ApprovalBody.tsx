import { FormattedText } from "./FormattedText.tsx";

/** The body of an approval, as Markdown. Its headings are below a heading that only screen readers have. */
export const ApprovalBody = ({ body }: { body: string | null }) =>
  body && (
    <section aria-label="What is asked">
      <h2 className="hidden-text">What is asked</h2>
      <FormattedText text={body} isRaw={false} />
    </section>
  );
