"""Programs: functions by their names."""


class Program:
    def __init__(self, functions):
        self.functions = dict(functions)

    @staticmethod
    def create(functions):
        return Program(functions)

    def with_function(self, function):
        return Program({**self.functions, function.name: function})

    def __str__(self):
        """As a text of Tilus, which is what is compiled."""
        from tilus.drivers import text_of_function

        return "\n".join([text_of_function(function) for function in self.functions.values()])
