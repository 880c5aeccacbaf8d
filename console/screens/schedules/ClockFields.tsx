import { useState } from "react";
import { FREQUENCIES, toCron, WEEKDAYS, type ClockTime, type Frequency } from "../../format/cron.ts";
import { labelledChoices, Options } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { NextTimes } from "./NextTimes.tsx";
import "./schedules.css";

const BEGIN: ClockTime = { frequency: "weekdays", time: "08:30", weekday: 1, day: 1 };
const ZONES = Intl.supportedValuesOf("timeZone");

interface PartProps {
  clock: ClockTime;
  change(part: Partial<ClockTime>): void;
}

/** The days that `frequency` leaves open. */
function DayField({ clock: { frequency, weekday, day }, change }: PartProps) {
  if (frequency === "week")
    return (
      <FormField label="Day">
        <select value={weekday} onChange={({ target }) => change({ weekday: Number(target.value) })}>
          <Options choices={labelledChoices(Object.fromEntries(WEEKDAYS.entries()))} />
        </select>
      </FormField>
    );
  if (frequency !== "month") return null;
  return (
    <FormField label="Day" note="a month without it is left out">
      <input
        type="number"
        min={1}
        max={31}
        required
        value={day || ""}
        onChange={({ target }) => change({ day: Number(target.value) })}
      />
    </FormField>
  );
}

const TimeField = ({ clock: { frequency, time }, change }: PartProps) =>
  frequency === "hour" ? (
    <FormField label="Minute">
      <input
        type="number"
        min={0}
        max={59}
        required
        value={Number(time.split(":")[1])}
        onChange={({ target }) => change({ time: `00:${target.value.padStart(2, "0")}` })}
      />
    </FormField>
  ) : (
    <FormField label="Time">
      <input type="time" required value={time} onChange={({ target }) => change({ time: target.value })} />
    </FormField>
  );

const CronField = ({ cron, onChange }: { cron: string; onChange(cron: string): void }) => (
  <FormField label="Times" note="minute, hour, day, month, weekday">
    <input
      required
      maxLength={100}
      className="mono"
      spellCheck={false}
      value={cron}
      onChange={({ target }) => onChange(target.value)}
    />
  </FormField>
);

/** Times of day, selected or written as cron, with the next times. */
export function ClockFields() {
  const [frequency, setFrequency] = useState<Frequency>(BEGIN.frequency);
  const [clock, setClock] = useState(BEGIN);
  const [own, setOwn] = useState("");
  const [zone, setZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const change = (part: Partial<ClockTime>) => setClock((before) => ({ ...before, ...part }));
  const chosen = toCron(clock);
  const pick = (picked: Frequency) => {
    setFrequency(picked);
    // a custom expression starts with the earlier selection
    if (picked === "own") setOwn(chosen);
    else change({ frequency: picked });
  };
  const cron = frequency === "own" ? own : chosen;
  return (
    <>
      <div className="side-by-side" data-params="cron">
        <FormField label="How often">
          <select value={frequency} onChange={({ target }) => pick(target.value as Frequency)}>
            <Options choices={labelledChoices(FREQUENCIES)} />
          </select>
        </FormField>
        {frequency === "own" ? (
          <CronField cron={own} onChange={setOwn} />
        ) : (
          <>
            <DayField clock={clock} change={change} />
            <TimeField clock={clock} change={change} />
          </>
        )}
        <FormField label="Time zone">
          <input
            name="time_zone"
            required
            maxLength={100}
            list="time-zones"
            value={zone}
            onChange={({ target }) => setZone(target.value)}
            spellCheck={false}
          />
        </FormField>
      </div>
      <datalist id="time-zones">
        {ZONES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </datalist>
      <input type="hidden" name="cron" value={cron} />
      <NextTimes cron={cron} time_zone={zone.trim()} />
    </>
  );
}
