-- The path "staged" of the event archive, PostgreSQL 13 and newer: a station has copied its events into
-- archive_staging, a temporary table of its session, and calls this within the same transaction.

-- Moves the staged rows into the segments that are open, by their time: an event belongs to the segment with
-- the last begin that is not after it, and one from before the oldest open segment goes into that. Then sets
-- the station's mark.
CREATE OR REPLACE PROCEDURE archive_store(p_station integer, p_last_seq bigint)
LANGUAGE plpgsql
AS $$
DECLARE
    segment record;
BEGIN
    FOR segment IN
        SELECT name,
            CASE WHEN row_number() OVER by_begin = 1 THEN '-infinity'
                ELSE 'epoch'::timestamp + begin_us * interval '1 microsecond' END AS begins,
            coalesce('epoch'::timestamp + lead(begin_us) OVER by_begin * interval '1 microsecond',
                'infinity') AS ends
        FROM archive_segment
        WHERE state IN ('open', 'current')
        WINDOW by_begin AS (ORDER BY begin_us)
    LOOP
        EXECUTE format(
            'INSERT INTO %I (element_id, ts, value, text, status, station, seq) '
            'SELECT element_id, ts, value, text, status, station, seq '
            'FROM archive_staging WHERE ts >= $1 AND ts < $2', segment.name)
        USING segment.begins, segment.ends;
    END LOOP;
    UPDATE archive_station SET stored = p_last_seq WHERE station = p_station;
    IF NOT FOUND THEN
        RAISE no_data_found USING MESSAGE = format('station %s has no row in archive_station', p_station);
    END IF;
END
$$;
