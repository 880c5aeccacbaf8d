import { useEffect, type ReactNode } from "react";
import type { Action } from "./action.ts";
import { FocusableButton } from "./FocusableButton.tsx";
import { useCheckedForm } from "./useCheckedForm.tsx";
import { useUnsavedWarning } from "./useLeaveConfirmation.ts";
import "./form.css";

interface Props {
  /** The label of the submit button: "Create key". */
  submit: string;
  /** The form is in the card beside the screen's main content, so its button is not the primary one. */
  isWithin?: boolean;
  /** For actions that cannot be undone. */
  isDangerous?: boolean;
  /** The message after a success, for forms that stay: "Saved." */
  done?: string | undefined;
  /** Reads the fields by their names; throws a FieldError for a wrong one. */
  send: Action<FormData>;
  children: ReactNode;
}

/** Fields with a submit button, the error and the result. Asks before typed text is lost. */
export function Form({ submit, isWithin = false, isDangerous = false, done, send, children }: Props) {
  const { set: setUnsaved } = useUnsavedWarning();
  const error = send.isError ? send.error : null;
  // with each new error only: a form that is sent again may be shown once more with the last one
  useEffect(() => {
    if (error) setUnsaved(true);
  }, [error, setUnsaved]);
  const { props, notice } = useCheckedForm({
    error,
    onSend: (form) => {
      setUnsaved(false);
      send.mutate(form);
    },
  });
  return (
    <form {...props} className={isWithin ? "form within" : "card form"} onInput={() => setUnsaved(true)}>
      {children}
      {notice}
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

interface CheckboxProps {
  name: string;
  value?: string;
  label: string;
  hint?: string;
  isChecked: boolean;
}

export const Checkbox = ({ name, value, label, hint, isChecked }: CheckboxProps) => (
  <label className="check">
    <input type="checkbox" name={name} value={value} defaultChecked={isChecked} /> {label}
    {hint && <span className="quiet"> {hint}</span>}
  </label>
);
