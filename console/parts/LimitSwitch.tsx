import { useState, type FormEvent, type ReactNode } from "react";

/** Whether a field has a selection or text. */
function isFilled(field: EventTarget): boolean {
  const { type, checked, value } = field as HTMLInputElement;
  return type === "checkbox" ? checked : value.trim() !== "";
}

interface SwitchState {
  isOn: boolean;
  onTurn(isOn: boolean): void;
}

interface Props {
  /** Whether the limit is on at first. */
  isLimited: boolean;
  switches: (state: SwitchState) => ReactNode;
  /** The entries; empty after the switch was turned off. */
  children: (isEmptied: boolean) => ReactNode;
}

/**
 * A switch that limits something to the entries below it. An entry turns the switch on, and turning it off clears the entries: while
 * it is off everything is allowed, so no entry may look like a limit.
 */
export function LimitSwitch({ isLimited, switches, children }: Props) {
  const [isOn, setOn] = useState(isLimited);
  const [emptied, setEmptied] = useState(0);
  const turn = (on: boolean) => {
    setOn(on);
    if (!on) setEmptied((times) => times + 1);
  };
  const noticeEntry = ({ target }: FormEvent) => {
    if (isFilled(target)) setOn(true);
  };
  return (
    <>
      {switches({ isOn, onTurn: turn })}
      <div key={emptied} className="entries" onChange={noticeEntry}>
        {children(emptied > 0)}
      </div>
    </>
  );
}

/** The same switch as a checkbox. */
export const LimitCheck = ({
  name,
  label,
  hint,
  isOn,
  onTurn,
}: SwitchState & Record<"name" | "label", string> & { hint?: string }) => (
  <label className="check">
    <input type="checkbox" name={name} checked={isOn} onChange={({ target }) => onTurn(target.checked)} /> {label}
    {hint && <span className="quiet"> {hint}</span>}
  </label>
);
