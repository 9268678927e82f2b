-- The path "staged" of the event archive, MariaDB 10.6 and newer: a station has loaded its events into
-- archive_staging, a temporary table of its session, and calls this within the same transaction.
-- A line that holds nothing but // ends a statement.

-- Moves the staged rows into the segments that are open, by their time: an event belongs to the segment with
-- the last begin that is not after it, and one from before the oldest open segment goes into that. Empties
-- the staging table and sets the station's mark.
CREATE OR REPLACE PROCEDURE archive_store(IN p_station integer, IN p_last_seq bigint)
MODIFIES SQL DATA
BEGIN
    DECLARE segment_name varchar(40);
    DECLARE begins, ends datetime(6);
    DECLARE done boolean DEFAULT FALSE;
    DECLARE segments CURSOR FOR
        SELECT name,
            if(row_number() OVER (ORDER BY begin_us) = 1, TIMESTAMP '1000-01-01 00:00:00',
                TIMESTAMP '1970-01-01 00:00:00' + INTERVAL begin_us MICROSECOND),
            coalesce(TIMESTAMP '1970-01-01 00:00:00'
                + INTERVAL lead(begin_us) OVER (ORDER BY begin_us) MICROSECOND,
                TIMESTAMP '9999-12-31 23:59:59')
        FROM archive_segment
        WHERE state IN ('open', 'current');
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
    OPEN segments;
    each_segment: LOOP
        FETCH segments INTO segment_name, begins, ends;
        IF done THEN
            LEAVE each_segment;
        END IF;
        EXECUTE IMMEDIATE concat(
            'INSERT INTO ', segment_name, ' (element_id, ts, value, text, status, station, seq) ',
            'SELECT element_id, ts, value, text, status, station, seq ',
            'FROM archive_staging WHERE ts >= ? AND ts < ?') USING begins, ends;
    END LOOP;
    CLOSE segments;
    DELETE FROM archive_staging;
    UPDATE archive_station SET stored = p_last_seq WHERE station = p_station;
    IF ROW_COUNT() <> 1 THEN
        SIGNAL SQLSTATE 'P0002' SET MESSAGE_TEXT = 'the station has no row in archive_station';
    END IF;
END
//
