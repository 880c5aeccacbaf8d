import { FieldError } from "../format/FieldError.ts";
import { formText } from "./formText.ts";

const FIELD = "confirmation";

/** A field for an irreversible action, which runs only after a given word is typed. */
export const TypedConfirmation = ({ word }: { word: string }) => (
  <label>
    <span>
      Type <code>{word}</code> to confirm
    </span>
    <input name={FIELD} autoComplete="off" spellCheck={false} />
  </label>
);

/** Throws a FieldError unless the word was typed. */
export function requireConfirmation(form: FormData, word: string): void {
  if (formText(form, FIELD).trim() !== word)
    throw new FieldError(FIELD, `Nothing was done. Type “${word}” to confirm.`);
}
