import { useId, useLayoutEffect, useRef, useState, type FormEvent, type ReactNode, type RefObject } from "react";
import { createPortal } from "react-dom";
import { fieldOfError, findProblems, labelOf, markField, type Problem } from "./formFields.ts";
import { ErrorNotice } from "./Notices.tsx";
import "./form.css";

type FormRef = RefObject<HTMLFormElement | null>;

/** Marks fields that do not meet their constraints, with a message beside each. Screen readers hear all of them, then the first field. */
function Problems({ problems }: { problems: Problem[] }) {
  const id = useId();
  useLayoutEffect(() => {
    const marks = problems.map(({ field, message }, n) => {
      const text = document.createElement("p");
      text.id = `${id}${n}`;
      text.className = "field-problem";
      // below a row of fields, the message says which one it is about
      text.textContent = field.closest(".side-by-side, .search-line") ? `${labelOf(field)}: ${message}` : message;
      const unmark = markField(field, text, text.id);
      // a changed field is not wrong any more, as far as is known
      field.addEventListener("input", unmark, { once: true });
      return () => {
        field.removeEventListener("input", unmark);
        unmark();
      };
    });
    problems[0]?.field.focus();
    return () => marks.forEach((unmark) => unmark());
  }, [problems, id]);
  return (
    <div role="alert" className="hidden-text">
      {problems.map(({ field, message }, n) => (
        // the list is shown as a whole
        <p key={n}>{`${labelOf(field)}: ${message}`}</p>
      ))}
    </div>
  );
}

function newPlace(): HTMLElement {
  const place = document.createElement("div");
  place.className = "field-problem";
  return place;
}

/** The error of a sent form: beside the field that it names, which gets the focus, or else here. */
function SentError({ form, error, wrongField }: Pick<Options, "error" | "wrongField"> & { form: FormRef }) {
  const id = useId();
  const home = useRef<HTMLDivElement>(null);
  // moves, so that the notice is rendered once, wherever it belongs
  const [place] = useState(newPlace);
  useLayoutEffect(() => {
    const field = form.current ? fieldOfError(form.current, error, wrongField) : undefined;
    if (field) {
      const unmark = markField(field, place, id);
      field.focus();
      return unmark;
    }
    home.current?.append(place);
    return () => place.remove();
  }, [form, error, wrongField, id, place]);
  return (
    <div ref={home} className="form-error">
      {createPortal(<ErrorNotice error={error} messageId={id} />, place)}
    </div>
  );
}

interface Options {
  /** The error of the last attempt; null if there is none. */
  error: unknown;
  /** The name of the field to correct if the error names none. */
  wrongField?: string | undefined;
  onSend(form: FormData, submitter: HTMLElement | null): void;
}

interface CheckedForm {
  /** For the element `form`. */
  props: { ref: FormRef; noValidate: true; onSubmit(event: FormEvent<HTMLFormElement>): void };
  /** The errors, to be shown within the form. */
  notice: ReactNode;
}

/** The errors of a form. The browser's own bubbles vanish and name one field only, so the console shows and announces all of them itself. */
export function useCheckedForm({ error, wrongField, onSend }: Options): CheckedForm {
  const ref = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<Problem[]>([]);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const isUnchecked = submitter instanceof HTMLButtonElement && submitter.formNoValidate;
    const found = isUnchecked ? [] : findProblems(event.currentTarget);
    setProblems(found);
    if (found.length === 0) onSend(new FormData(event.currentTarget), submitter);
  };
  const hasProblems = problems.length > 0;
  return {
    props: { ref, noValidate: true, onSubmit },
    notice: hasProblems ? (
      <Problems problems={problems} />
    ) : (
      error !== null && error !== undefined && <SentError form={ref} error={error} wrongField={wrongField} />
    ),
  };
}
