import { useQuery } from "@tanstack/react-query";
import { getOcrSettings, setOcrLanguages, type OcrSettings } from "../../api/settings.ts";
import { useRole } from "../../api/useRole.ts";
import { languageName } from "../../format/languageName.ts";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";

const named = (languages: string[]): string =>
  languages.map((language) => `${language} (${languageName(language)})`).join(", ");

/** `deu, eng` as a list; null if nothing is entered. */
const readLanguages = (text: string): string[] | null => {
  const languages = text.split(/[\s,+]+/).filter(Boolean);
  return languages.length > 0 ? languages : null;
};

function LanguagesForm({ languages, default_languages, installed }: OcrSettings) {
  const { send, formKey } = useSaveForm({
    kind: "organization",
    save: (form) => setOcrLanguages(readLanguages(formText(form, "languages"))),
  });
  return (
    <Form key={`${languages?.join()} ${formKey}`} submit="Set languages" done="Saved." send={send}>
      <label>
        <span>Languages</span>
        <span className="quiet">
          The most frequent first; each makes reading slower. Without any: {default_languages.join(", ")}.
        </span>
        <input name="languages" defaultValue={languages?.join(", ")} autoComplete="off" spellCheck={false} />
        <span className="quiet">Installed: {named(installed)}.</span>
      </label>
    </Form>
  );
}

/** The languages of text in pictures and scans. Owners and admins change them. */
export function Ocr() {
  const { isAdmin } = useRole();
  const query = useQuery(getOcrSettings);
  return (
    <section aria-labelledby="ocr" className="stack">
      <h2 id="ocr">Text in pictures and scans</h2>
      <QueryResult query={query} what="languages">
        {(settings) => (
          <>
            {!settings.available && (
              <p className="notice warn">Text in pictures and scans is not read on this server.</p>
            )}
            <p className="quiet">
              It is read in {named(settings.languages ?? settings.default_languages)}. Files that were read keep their
              languages.
            </p>
            {isAdmin && <LanguagesForm {...settings} />}
          </>
        )}
      </QueryResult>
    </section>
  );
}
