import { useEffect, type FormEvent, type ReactNode } from "react";
import type { Action } from "./action.ts";
import { ErrorNotice } from "./Notices.tsx";
import { useUnsaved } from "./useUnsaved.ts";
import "./form.css";
import { FocusableButton } from "./FocusableButton.tsx";

interface Props {
  /** The label of the submit button: "Create key". */
  submit: string;
  /** The form is in the card beside the screen's main content, so its button is not the primary one. */
  isWithin?: boolean;
  /** For actions that cannot be undone. */
  isDangerous?: boolean;
  /** The message after a success, for forms that stay: "Saved." */
  done?: string | undefined;
  /** Reads the fields by their names; throws an Error that names the field. */
  send: Action<FormData>;
  children: ReactNode;
}

/** Fields with a submit button, the error and the result. Asks before typed text is lost. */
export function Form({ submit, isWithin = false, isDangerous = false, done, send, children }: Props) {
  const unsaved = useUnsaved();
  useEffect(() => {
    if (send.isError) unsaved.set(true);
  });
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    unsaved.set(false);
    send.mutate(new FormData(event.currentTarget));
  };
  return (
    <form className={isWithin ? "form within" : "card form"} onSubmit={onSubmit} onInput={() => unsaved.set(true)}>
      {children}
      {send.isError && <ErrorNotice error={send.error} />}
      <p className="title-line">
        <FocusableButton
          type="submit"
          className={isDangerous ? "button destroy" : isWithin ? "button" : "button primary"}
          isOff={send.isPending}
        >
          {submit}
        </FocusableButton>
        <span role="status" className="quiet">
          {send.isSuccess && done}
        </span>
      </p>
    </form>
  );
}

interface CheckProps {
  name: string;
  value?: string;
  label: string;
  hint?: string;
  isChecked: boolean;
}

export const Check = ({ name, value, label, hint, isChecked }: CheckProps) => (
  <label className="check">
    <input type="checkbox" name={name} value={value} defaultChecked={isChecked} /> {label}
    {hint && <span className="quiet"> {hint}</span>}
  </label>
);
