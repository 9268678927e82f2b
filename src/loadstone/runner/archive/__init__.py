"""The event archive on an engine in this process.

Stations store value changes in a history that switches segments. It is a port of
`driver/src/archive/`, with the same words.

How every event is stored exactly once. Only events that a station's buffer accepts get a number,
1, 2, 3 and so on. A batch is the oldest events that wait; one transaction stores it together with
the number of its last event (the station's mark), so the mark says what is stored. When a commit
failed, the station reads its mark before it goes on: the batch is stored as a whole, or not at all
and sent again.

How every event gets into the segment of its time. DuckDB has no lock that readers of a table wait
for: a station that has read the routes (the segments that take events) could go on for any time
while the keeper switches. So this process has a lock of its own, `Common.routes`. A station holds
it from BEGIN until it has read the routes, which it does after the last event of its batch became
due. The keeper holds it from before it takes the time `now` until its switch is committed, and
lets the new segment begin later than `now`. A station that has read the old routes read them
before the keeper had the lock, so its events were due before `now` and lie before the new
segment's begin. One that reads later begins its transaction after the commit, and sees the new
routes: a transaction of DuckDB sees what was committed before its first statement.
"""
