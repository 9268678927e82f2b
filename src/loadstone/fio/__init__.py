"""The load generator `loadstone-fio`: a plan in, fio pass by pass, frames out.

fio makes the load; what is here writes its job files, starts it, and reads what it says.
"""
