import { Words } from "./Words.tsx";

/** The body of an approval, as Markdown. Its headings are below a heading that only screen readers have. */
export const AskedBody = ({ body }: { body: string | null }) =>
  body && (
    <section aria-label="What is asked">
      <h2 className="hidden-text">What is asked</h2>
      <Words text={body} isRaw={false} />
    </section>
  );
