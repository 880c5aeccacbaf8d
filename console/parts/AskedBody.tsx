import { Words } from "./Words.tsx";

/** What an approval says below its title, as Markdown. Its headings stand below one that only screen readers have. */
export const AskedBody = ({ body }: { body: string | null }) =>
  body && (
    <section aria-label="What is asked">
      <h2 className="hidden-text">What is asked</h2>
      <Words text={body} isRaw={false} />
    </section>
  );
